// Gathers what a task's process needs and can't get itself, because it has neither the database nor the settings.
import type { TaskInput } from '../../workers/tasks/task-input.ts'
import type { ChainTable } from '../domain/chain.ts'
import type { ListImage } from '../domain/list-image.ts'
import { createServedLists } from '../facts/lists/serve-lists.ts'
import type { Clock } from '../lib/time.ts'
import { savedSteps } from '../policy/cel/compile.ts'
import { finishInTurns } from '../policy/cel/steps.ts'
import type { SessionKnowledge } from '../policy/types/session-facts.ts'
import type { Store } from '../store/store.ts'
import type { Task } from '../store/tasks.ts'

export interface TaskPreparation {
  readonly store: Pick<Store, 'lists' | 'listBases'>
  /** The folder of the node's decision log. */
  readonly decisions: string
  readonly chains: ChainTable
  readonly clock: Clock
  readonly decidedByPeople: SessionKnowledge['decidedByPeople']
}

/** The present content of the lists with these names, as the organization sees them. */
const readLists = async (
  { store, clock }: TaskPreparation,
  organizationId: string | null,
  names: ReadonlySet<string>,
): Promise<ListImage[]> => {
  const images: ListImage[] = []
  const served = createServedLists({
    lists: {
      ...store.lists,
      listAll: async () =>
        (await store.lists.listAll()).filter(
          ({ name, organizationId: owner }) => names.has(name) && (owner === null || owner === organizationId),
        ),
    },
    bases: store.listBases,
    publish: (published) => images.push(...published),
    clock,
    onError: () => undefined,
  })
  await served.load()
  served.stop()
  return images
}

export const createPrepareTask =
  (preparation: TaskPreparation) =>
  async (task: Task): Promise<TaskInput> => {
    const { decisions, chains } = preparation
    const input = { ...task.input, directory: decisions }
    if (task.kind !== 'policy.replay') return { kind: task.kind, input, lists: [] }
    const { needs, document } = await finishInTurns(savedSteps(String(task.input['source'])))
    if (document.decides === 'sessions') {
      const sessions = await preparation.decidedByPeople(task.organizationId ?? '', {
        sinceSeconds: Math.floor(Number(task.input['sinceMs']) / 1_000),
        untilSeconds: Math.ceil(Number(task.input['untilMs']) / 1_000),
      })
      return { kind: task.kind, input: { ...input, sessions }, lists: [] }
    }
    const names = new Set(needs.flatMap((need) => (need.kind === 'list' ? [need.list] : [])))
    return {
      kind: task.kind,
      input: {
        ...input,
        organizationId: task.organizationId,
        chains: chains.chains,
      },
      lists: names.size === 0 ? [] : await readLists(preparation, task.organizationId, names),
    }
  }
