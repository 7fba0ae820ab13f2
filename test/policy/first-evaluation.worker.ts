// A thread as a signing worker begins: warmed up, and then given a policy that it has never evaluated.
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import type { EvaluationFacts } from '../../src/policy/types/facts.ts'
import { warmUpPolicies } from '../../src/policy/warm-up.ts'
import { threadMs } from './thread-time.ts'

export interface FirstEvaluation {
  readonly source: string
  readonly facts: EvaluationFacts
}

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<FirstEvaluation>) => {
  warmUpPolicies(() => performance.now())
  const { evaluate } = compilePolicy(data.source)
  // Reading the time warms up as well.
  threadMs()
  const startedMs = threadMs()
  try {
    evaluate(data.facts)
  } catch {
    // A failure takes its time, too.
  }
  postMessage(threadMs() - startedMs)
}
