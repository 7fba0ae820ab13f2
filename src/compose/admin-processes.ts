// Child processes of the admin API: the decision index, and one per task.

import type { IndexQuestion, IndexReply } from '../../workers/index/decision-index-protocol.ts'
import type { SharedIndexInput } from '../../workers/index/shared-index-input.ts'
import { encodeTaskInput, type TaskInput, type TaskMessage } from '../../workers/tasks/task-input.ts'
import type { IndexProcess, IndexProcessListener } from '../admin/decisions/index-process.ts'
import type { IndexRole } from '../admin/decisions/search.ts'
import type { TaskListener, TaskProcess } from '../admin/task-runner.ts'
import { jsonInput, startBackgroundChild } from '../cluster/background-child.ts'
import { errorClassOf } from '../lib/named-error.ts'
import type { TaskKind } from '../module-interface/tasks.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import type { Task } from '../store/tasks.ts'

const INDEX_ENTRIES: Readonly<Record<IndexRole, string>> = {
  build: 'workers/index/decision-index.process.ts',
  find: 'workers/index/decision-search.process.ts',
}

const SHARED_INDEX_ENTRIES: Readonly<Record<IndexRole, string>> = {
  build: 'workers/index/shared-index.process.ts',
  find: 'workers/index/shared-search.process.ts',
}

export const spawnIndexProcess =
  (folder: Pick<DataFolder, 'decisions' | 'decisionIndex'>, shared: SharedIndexInput | null = null) =>
  (role: IndexRole, { onReply, onExit }: IndexProcessListener): IndexProcess =>
    startBackgroundChild<IndexReply, IndexQuestion>({
      commandLine: [
        (shared === null ? INDEX_ENTRIES : SHARED_INDEX_ENTRIES)[role],
        folder.decisions,
        folder.decisionIndex,
      ],
      input: shared === null ? null : jsonInput(shared),
      onMessage: onReply,
      onExit,
    })

interface TaskSpawning {
  readonly kinds: readonly TaskKind[]
  readonly directory: string
  readonly onFailed: (task: Task, errorClass: string) => void
}

export const spawnTaskProcess =
  ({ kinds, directory, onFailed }: TaskSpawning) =>
  (task: Task, listener: TaskListener): TaskProcess => {
    const kind = kinds.find((each) => each.kind === task.kind) ?? {
      entry: 'workers/tasks/task.process.ts',
      prepare: async (): Promise<TaskInput> => ({ kind: task.kind, input: { ...task.input, directory }, lists: [] }),
    }
    let child: { kill(): void } | null = null
    let killed = false

    const start = (input: TaskInput): void => {
      if (killed) {
        listener.onExit()
        return
      }
      child = startBackgroundChild<TaskMessage, never>({
        commandLine: [kind.entry],
        input: encodeTaskInput(input),
        onMessage: (message) => {
          if (message.type === 'progress') listener.onProgress(message.done, message.total)
          else if (message.type === 'done') listener.onDone(message.result)
          else {
            onFailed(task, message.errorClass)
            listener.onFailed(message.failure)
          }
        },
        onExit: listener.onExit,
      })
    }
    kind
      .prepare(task)
      .then(start)
      .catch((error: unknown) => {
        onFailed(task, errorClassOf(error))
        listener.onFailed('the task could not be started')
        listener.onExit()
      })
    return {
      kill: () => {
        killed = true
        child?.kill()
      },
    }
  }
