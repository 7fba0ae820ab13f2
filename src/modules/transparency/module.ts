import { LOG_TREE } from '../../command-line/log-services.ts'
import { provide } from '../../lib/service-key.ts'
import { defineModule } from '../../module-interface/module.ts'
import { LOG_TREE_TABLES } from '../../store/copy/log-tree-tables.ts'
import { TREE_METRICS } from './service/tree-metrics.ts'
import { checkTreeSettings, TREE_SETTINGS } from './settings.ts'

export const transparency = defineModule({
  name: 'transparency',
  summary: 'sign a Merkle tree over the decision log, with proofs, published heads and witnesses',
  settings: TREE_SETTINGS,
  checkSettings: checkTreeSettings,
  metrics: TREE_METRICS,
  processes: {
    'src/modules/transparency/worker/decision-tree.process.ts': () => import('./worker/decision-tree.process.ts'),
    'src/modules/transparency/worker/verify-log.process.ts': () => import('./worker/verify-log.process.ts'),
  },
  services: () => [
    provide(LOG_TREE, {
      checkOf: (deployment, checkpoints, archivedBefore) => async (logs) => {
        const { createTreeCheck, openTreeOf } = await import('./commands/decisions-tree.ts')
        return createTreeCheck(() => openTreeOf(deployment), checkpoints, archivedBefore)(logs)
      },
      auditHeadProblems: async (deployment, store) => {
        const { keptHeadProblems } = await import('./service/audit-head.ts')
        return keptHeadProblems(store, deployment.folder, await deployment.locateStore())
      },
    }),
    provide(LOG_TREE_TABLES, {
      copy: async (...given) => (await import('./store/copy.ts')).TREE_TABLES.copy(...given),
      copyToFile: async (...given) => (await import('./store/copy.ts')).TREE_TABLES.copyToFile(...given),
      forgetAuditHead: async (target) => (await import('./store/copy.ts')).TREE_TABLES.forgetAuditHead(target),
    }),
  ],
  operations: async () => (await import('./operations/operations.ts')).operations,
  commands: {
    decisions: async () => (await import('./commands/decisions-commands.ts')).TREE_COMMANDS,
    proof: async () => (await import('./commands/proof.ts')).PROOF_COMMANDS,
  },
  verbs: {
    witness: {
      summary: 'Cosign the heads of another deployment’s log',
      run: async (words, { output, clock, stopped }) =>
        (await import('./commands/witness/witness.ts')).runWitness(words, {
          output,
          unixSeconds: clock.unixSeconds,
          signal: stopped(),
        }),
    },
  },
  inspect: async (deployment) => (await import('./commands/doctor-witnesses.ts')).inspectWitnesses(deployment),
  open: async (core) => (await import('./service/open-transparency.ts')).openTreeReaders(core),
  openAttestation: async (core) => (await import('./service/open-transparency.ts')).openTree(core),
})
