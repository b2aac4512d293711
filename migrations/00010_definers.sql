-- +goose Up

-- Functions that run as the owner look for tables in the schema they were made in and nowhere else: a
-- path that does not name pg_temp begins with it, and whoever may make temporary tables could put one
-- of the same name, with a trigger, before ours and have the trigger run as the owner.
-- +goose StatementBegin
DO $$
DECLARE
    f regprocedure;
BEGIN
    FOR f IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace AND p.prosecdef
             AND p.proname IN ('retire', 'go_on_counting', 'go_on_counting_clusters', 'plan_turned') LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', f, current_schema());
    END LOOP;
END
$$;
-- +goose StatementEnd
