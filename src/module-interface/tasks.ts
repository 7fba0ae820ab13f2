// Task kinds of modules. Each task runs in its own process (src/admin/task-runner.ts).
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
  /** Entry of the process, listed in the module's `processes`. */
  readonly entry: string
  /** Collects input that the process cannot read itself. */
  prepare(task: Task): Promise<TaskInput>
}
