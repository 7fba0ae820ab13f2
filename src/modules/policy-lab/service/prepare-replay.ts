// Collects the input of a replay, whose process has no database or settings.
import { REPLAY_KIND } from '../../../admin/policies/tried.ts'
import type { ListImage } from '../../../domain/list-image.ts'
import { createServedLists } from '../../../facts/lists/serve-lists.ts'
import type { TaskCore, TaskKind } from '../../../module-interface/tasks.ts'
import { savedSteps } from '../../../policy/cel/compile.ts'
import { finishInTurns } from '../../../policy/cel/steps.ts'

const readLists = async (
  { store, clock }: Pick<TaskCore, 'store' | 'clock'>,
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

export const replayOf = (
  core: Pick<TaskCore, 'config' | 'folder' | 'store' | 'clock' | 'decidedByPeople'>,
): TaskKind => ({
  kind: REPLAY_KIND,
  entry: 'src/modules/policy-lab/worker/replay.process.ts',
  prepare: async (task) => {
    const { kind, organizationId } = task
    const input = { ...task.input, directory: core.folder.decisions }
    const { needs, document } = await finishInTurns(savedSteps(String(task.input['source'])))
    if (document.decides === 'sessions') {
      const sessions = await core.decidedByPeople(organizationId ?? '', {
        sinceSeconds: Math.floor(Number(task.input['sinceMs']) / 1_000),
        untilSeconds: Math.ceil(Number(task.input['untilMs']) / 1_000),
      })
      return { kind, input: { ...input, sessions }, lists: [] }
    }
    const names = new Set(needs.flatMap((need) => (need.kind === 'list' ? [need.list] : [])))
    return {
      kind,
      input: { ...input, organizationId, chains: core.config.chains.chains },
      lists: names.size === 0 ? [] : await readLists(core, organizationId, names),
    }
  },
})
