// A warmed-up thread that compiles a new policy and posts the duration of its longest step.
import { compileDocument } from '../../src/policy/document/compile-document.ts'
import type { PolicyDocument } from '../../src/policy/types/document.ts'
import { warmUpPolicies } from '../../src/policy/warm-up.ts'
import { threadMs } from './thread-time.ts'

export interface LongestStep {
  readonly steps: number
  readonly longestMs: number
  readonly totalMs: number
}

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<PolicyDocument>) => {
  warmUpPolicies(() => performance.now())
  // The first clock reading is slow.
  threadMs()
  const compiling = compileDocument(data)
  let longestMs = 0
  let totalMs = 0
  for (let steps = 1; ; steps++) {
    const startedMs = threadMs()
    const { done } = compiling.next()
    const tookMs = threadMs() - startedMs
    longestMs = Math.max(longestMs, tookMs)
    totalMs += tookMs
    if (done === true) {
      postMessage({ steps, longestMs, totalMs } satisfies LongestStep)
      return
    }
  }
}
