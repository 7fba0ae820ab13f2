// What the process of a task tells the service.
import type { TaskResult } from './task.process.ts'

export type { TaskResult }

export type TaskMessage =
  /** In whatever the kind counts. */
  | { readonly type: 'progress'; readonly done: number; readonly total: number }
  | { readonly type: 'done'; readonly result: TaskResult }
  /** `failure` is chosen text; of the error only its class is told. */
  | { readonly type: 'failed'; readonly failure: string; readonly errorClass: string }
