import { LOG_COPIES } from '../../command-line/log-services.ts'
import { provide } from '../../lib/service-key.ts'
import { defineModule } from '../../module-interface/module.ts'
import { SHIPPING } from '../../object-store/ship-access.ts'
import { SHIP_METRICS } from './service/ship-metrics.ts'
import { bucketAccessOf, SHIP_SETTINGS, shipSettingsOf } from './settings.ts'

export const logShipping = defineModule({
  name: 'log-shipping',
  summary: 'copy the decision log and the audit log to a folder or bucket',
  settings: SHIP_SETTINGS,
  metrics: SHIP_METRICS,
  processes: {
    'src/modules/log-shipping/worker/decision-ship.process.ts': () => import('./worker/decision-ship.process.ts'),
  },
  services: ({ config }) => {
    const settings = shipSettingsOf(config)
    return [
      provide(SHIPPING, {
        place: settings.decisionsShip,
        intervalMs: settings.decisionsShipIntervalSeconds * 1_000,
        accessTo: (place) => bucketAccessOf(settings, place),
      }),
      provide(LOG_COPIES, {
        verifyDecisions: async (command) => (await import('./commands/verify-copies.ts')).verifyCopies(command),
        verifyAudit: async (...given) => (await import('./service/audit-ship.ts')).verifyShippedAudit(...given),
      }),
    ]
  },
  commands: {
    decisions: async () => (await import('./commands/decisions-ship.ts')).SHIP_COMMANDS,
  },
  openAttestation: async (core) => (await import('./service/open-shipping.ts')).openShipping(core),
})
