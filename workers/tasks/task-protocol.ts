// The messages of a task's process to the service.
import type { ReplayReport } from './replay-report.ts'
import type { LogReport } from './verify-log.ts'

export type TaskResult = LogReport | ReplayReport

export type TaskMessage =
  /** `done` of `total`, in the unit of the kind of task, for example bytes. */
  | { readonly type: 'progress'; readonly done: number; readonly total: number }
  | { readonly type: 'done'; readonly result: Readonly<Record<string, unknown>> }
  /** `failure` is a text for people; of the error only the class name is sent. */
  | { readonly type: 'failed'; readonly failure: string; readonly errorClass: string }
