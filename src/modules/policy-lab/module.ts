import { defineModule } from '../../module-interface/module.ts'

export const policyLab = defineModule({
  name: 'policy-lab',
  summary: 'test policies with simulations, replays of recorded decisions, and shadow revisions',
  processes: {
    'src/modules/policy-lab/worker/replay.process.ts': () => import('./worker/replay.process.ts'),
  },
  commands: { policy: async () => (await import('./commands/policy-commands.ts')).LAB_COMMANDS },
  operations: async () => (await import('./operations/operations.ts')).operations,
})
