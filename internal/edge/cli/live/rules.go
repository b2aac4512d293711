package live

import (
	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	"example.org/headroom/internal/slots/dispatch"
)

// learnedFlag is knowledge in a file of its own.
type learnedFlag struct{ file string }

func (f *learnedFlag) add(c *cobra.Command) {
	c.Flags().StringVar(&f.file, "knowledge", "", "go on from what \"headroom lab learn -o json\" wrote to this `file`")
}

// read returns the knowledge, or nil without the flag.
func (f *learnedFlag) read(c *cobra.Command) (*dispatch.Knowledge, error) {
	if f.file == "" {
		return nil, nil
	}
	data, label, err := shell.Read(c.Context(), f.file, c.InOrStdin(), c.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	k, err := dispatch.ReadLearned(data)
	return k, shell.Labelled(label, err)
}

func decideCommand() *cobra.Command {
	var learned learnedFlag
	c := &cobra.Command{
		Use:   "decide [FILE|-]",
		Short: "Say who gets a free slot of a cluster under each policy, and why",
		Long: `Reads a cluster at a moment as JSON, from a file or standard input: nodes, jobs, running tasks and the free slot.
Answers which job gets the slot under each policy, by the code that live clusters and simulations decide with.
Without "policies" it asks them all. Nothing is stored.

  {"now_s": 600, "slot": {"node": "n1"},
   "nodes": [{"name": "n1", "type": "gpu", "slots": {"map": 2}}, {"name": "n2", "type": "plain", "slots": {"map": 4}}],
   "jobs": [{"name": "sort", "maps": {"total": 20, "done": 4}},
            {"name": "ciphers", "submitted_s": 60, "deadline_s": 900, "maps": {"total": 20}}],
   "running": [{"job": "sort", "node": "n2", "tasks": 3}]}`,
		Example: "  headroom lab decide case.json\n  headroom lab decide case.json --knowledge learned.json -o json",
	}
	learned.add(c)
	return question.FileCommand(c, kinds.Decision, func(data []byte) (dispatch.DecideQuestion, error) {
		k, err := learned.read(c)
		if err != nil {
			return dispatch.DecideQuestion{}, err
		}
		return dispatch.ReadDecide(data, func(q *dispatch.DecideQuestion) {
			if k != nil {
				q.History.Knowledge = k
			}
		})
	})
}

func judgeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "judge [FILE|-]",
		Short: "Say whether a job may be promised its deadline, beside the jobs promised before",
		Long: `Reads a cluster at a moment as JSON, as "headroom lab decide" does, and a job with a deadline. Answers whether the job
could be promised that, by the rule of live clusters, and what would cure a refusal. All jobs of the cluster that
have deadlines count as promised. Nothing is stored. A refusal ends with exit code 3.

  {"nodes": [{"name": "n1", "slots": {"map": 4}}],
   "classes": [{"name": "etl", "task_time": {"a": 30}}],
   "jobs": [{"name": "nightly", "class": "etl", "deadline_s": 80, "maps": {"total": 8}}],
   "job": {"name": "mine", "class": "etl", "deadline_s": 120, "maps": {"total": 10}}}`,
		Example: "  headroom lab judge job.json\n  headroom lab judge -o json - < job.json",
	}
	return question.FileCommand(c, kinds.Promise, dispatch.ReadJudge)
}

func learnCommand() *cobra.Command {
	var learned learnedFlag
	c := &cobra.Command{
		Use:   "learn [FILE|-]",
		Short: "Say what a classifier learns from choices and their outcomes",
		Long: `Reads lessons as JSON and answers what naive Bayes or a perceptron knows after them, by the code of the policy
learned. A lesson is a task's use of resources (1 to 10) and its node's state when it was chosen, with the
outcome: "good", or the node's state "then", of which the policy's rules say whether it was overloaded.
Nothing is stored.

  {"policy": {"kind": "learned", "classifier": "naive_bayes"},
   "lessons": [{"usage": {"cpu": 2}, "load1": 0.4, "good": true},
               {"usage": {"cpu": 9}, "load1": 0.4, "then": {"load1": 1.6}}]}`,
		Example: "  headroom lab learn lessons.json -o json > learned.json\n  headroom lab learn more.json --knowledge learned.json",
	}
	learned.add(c)
	return question.FileCommand(c, kinds.Lessons, func(data []byte) (dispatch.LearnQuestion, error) {
		k, err := learned.read(c)
		if err != nil {
			return dispatch.LearnQuestion{}, err
		}
		return dispatch.ReadLearn(data, func(q *dispatch.LearnQuestion) {
			if k != nil {
				q.Knowledge = k
			}
		})
	})
}

func classifyCommand() *cobra.Command {
	var learned learnedFlag
	c := &cobra.Command{
		Use:   "classify [FILE|-]",
		Short: "Say which tasks are good for a node, by what was learned, and what each is worth",
		Long: `Reads cases as JSON and answers for each the probability that the task does not overload the node, whether that
makes it a good one, and its utility, by the code of the policy learned. Without knowledge all are good.

  {"policy": {"kind": "learned", "utilities": [{"kind": "fifo"}]},
   "cases": [{"name": "light", "usage": {"cpu": 2}, "load1": 0.4, "age_s": 60}, {"name": "heavy", "usage": {"cpu": 9}}]}`,
		Example: "  headroom lab classify cases.json --knowledge learned.json",
	}
	learned.add(c)
	return question.FileCommand(c, kinds.Classification, func(data []byte) (dispatch.ClassifyQuestion, error) {
		k, err := learned.read(c)
		if err != nil {
			return dispatch.ClassifyQuestion{}, err
		}
		return dispatch.ReadClassify(data, func(q *dispatch.ClassifyQuestion) {
			if k != nil {
				q.Knowledge = k
			}
		})
	})
}
