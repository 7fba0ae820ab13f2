import { defineModule } from '../../module-interface/module.ts'

export const sessionPolicies = defineModule({
  name: 'session-policies',
  summary: 'let an organization’s policy decide identity sessions after their checks',
  // A policy must be replayed on past sessions before it decides.
  needs: ['policy-lab'],
  commands: { policy: async () => (await import('./commands/policy-simulate.ts')).SIMULATE_COMMANDS },
  operations: async () => (await import('./operations/operations.ts')).operations,
  openSessions: async (core) => ({
    onChecked: (await import('./policy-decider.ts')).createPolicyDecider(core),
  }),
})
