// Kinds of tasks that modules do, each in a process of its own (src/admin/task-runner.ts).
import type { TaskInput } from '../../workers/tasks/task-input.ts'
import type { SessionKnowledge } from '../policy/types/session-facts.ts'
import type { Task } from '../store/tasks.ts'
import type { ModuleCore } from './module.ts'

export interface TaskCore extends Pick<ModuleCore, 'config' | 'folder' | 'store' | 'target' | 'clock' | 'findService'> {
  readonly decidedByPeople: SessionKnowledge['decidedByPeople']
}

/** Replaces the core's kind of the same name. */
export interface TaskKind {
  readonly kind: string
  /** Entry of its process, which `processes` of the module lists. */
  readonly entry: string
  /** Gathers everything that the process needs and can't get itself. */
  prepare(task: Task): Promise<TaskInput>
}
