import type { ModulePages } from '../../../dashboard/page/module-pages.ts'

export const providerPages: ModulePages = {
  module: 'providers',
  load: async () => (await import('./service-action.tsx')).PARTS,
}
