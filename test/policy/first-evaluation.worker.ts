// A warmed-up thread that evaluates a new policy and posts the duration.
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
  // The first clock reading is slow.
  threadMs()
  const startedMs = threadMs()
  try {
    evaluate(data.facts)
  } catch {
    // The duration of a failure also counts.
  }
  postMessage(threadMs() - startedMs)
}
