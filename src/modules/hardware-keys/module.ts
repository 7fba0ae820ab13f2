import { provide } from '../../lib/service-key.ts'
import { defineModule } from '../../module-interface/module.ts'
import { ASK_TOKEN } from '../../signing/token-service.ts'
import { checkTokenSettings, TOKEN_SETTINGS, tokenEnvironment } from './settings.ts'

export const hardwareKeys = defineModule({
  name: 'hardware-keys',
  summary: 'sign with attester keys in a PKCS#11 token',
  settings: TOKEN_SETTINGS,
  checkSettings: checkTokenSettings,
  processes: {
    'src/modules/hardware-keys/worker/token-check.process.ts': () => import('./worker/token-check.process.ts'),
  },
  trialEnvironment: tokenEnvironment,
  services: ({ config, folder }) => [
    provide(ASK_TOKEN, async (keys) => {
      const { createTokenCheck } = await import('./token-check.ts')
      const { tokenSettingsOf } = await import('./token-settings.ts')
      return createTokenCheck(tokenSettingsOf(config, folder))(keys)
    }),
  ],
  openAttestation: async (core) => {
    const { requireTokenKeys } = await import('./token-check.ts')
    const { tokenSettingsOf } = await import('./token-settings.ts')
    const token = tokenSettingsOf(core.config, core.folder)
    // The first process checks the keys for the whole node, because the other processes start later.
    if (core.isFirst) await requireTokenKeys(core.attesters, token, core.log)
    return { token }
  },
})
