import type { ModulePages } from '../../../dashboard/page/module-pages.ts'

export const policyLabPages: ModulePages = {
  module: 'policy-lab',
  load: async () => (await import('./parts.ts')).PARTS,
}
