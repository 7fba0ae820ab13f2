// Messages from a task process to the service.
import type { ReplayReport } from './replay-report.ts'
import type { LogReport } from './verify-log.ts'

export type TaskResult = LogReport | ReplayReport

export type TaskMessage =
  /** `done` of `total`, in a unit that depends on the kind of task, for example bytes. */
  | { readonly type: 'progress'; readonly done: number; readonly total: number }
  | { readonly type: 'done'; readonly result: Readonly<Record<string, unknown>> }
  /** `failure` is a message for users. Only the class name of the error is sent. */
  | { readonly type: 'failed'; readonly failure: string; readonly errorClass: string }
