-- +goose Up

-- Contracts that may be bought. Like scenarios they are no inputs: no plan depends on one.
CREATE TABLE offers (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cluster_id bigint NOT NULL CONSTRAINT offers_cluster_fkey REFERENCES clusters,
    name       text COLLATE "C" NOT NULL,
    vm_type_id bigint NOT NULL CONSTRAINT offers_vm_type_fkey REFERENCES vm_types,
    price      numeric(20,9) NOT NULL,
    upfront    numeric(20,9) NOT NULL, -- per VM
    billing    text NOT NULL,
    term_hours bigint NOT NULL, -- 0 where it is in years
    term_years bigint NOT NULL, -- 0 where it is in hours
    max        bigint NOT NULL,
    note       text NOT NULL,
    version    bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT offers_name_key UNIQUE (cluster_id, name),
    CONSTRAINT offers_name_check CHECK (char_length(name) BETWEEN 1 AND 200),
    CONSTRAINT offers_price_check CHECK (price >= 0 AND price < 'Infinity'),
    CONSTRAINT offers_upfront_check CHECK (upfront >= 0 AND upfront < 'Infinity'),
    CONSTRAINT offers_billing_check CHECK (billing IN ('used', 'always')),
    CONSTRAINT offers_term_check CHECK (term_hours >= 0 AND term_years >= 0 AND (term_hours > 0) <> (term_years > 0)),
    CONSTRAINT offers_max_check CHECK (max >= 0)
);
CREATE INDEX offers_vm_type ON offers (vm_type_id);
CREATE TRIGGER go_on_counting BEFORE INSERT ON offers FOR EACH ROW EXECUTE FUNCTION go_on_counting();
CREATE TRIGGER retire AFTER DELETE ON offers FOR EACH ROW EXECUTE FUNCTION retire();

-- What a machine of a type is, where somebody has said it or a price sheet does.
ALTER TABLE vm_types
    ADD COLUMN vcpu double precision CONSTRAINT vm_types_vcpu_check CHECK (vcpu >= 0 AND vcpu < 'Infinity'),
    ADD COLUMN memory_gib double precision CONSTRAINT vm_types_memory_check CHECK (memory_gib >= 0 AND memory_gib < 'Infinity'),
    ADD COLUMN gpus bigint CONSTRAINT vm_types_gpus_check CHECK (gpus >= 0);
