import { SERVICE_EVENTS } from '../../identity/webhooks/provider-endpoints.ts'
import { provide } from '../../lib/service-key.ts'
import { defineModule } from '../../module-interface/module.ts'

export const providers = defineModule({
  name: 'providers',
  summary: 'let Sumsub, Persona or Veriff decide identity sessions through webhooks',
  services: () => [provide(SERVICE_EVENTS, async () => (await import('./service-endpoint.ts')).createServiceEndpoint)],
  operations: async () => (await import('./operations/operations.ts')).operations,
})
