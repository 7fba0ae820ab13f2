import type { Config } from '../../config/config.ts'
import { SettingInvalidError } from '../../config/settings.ts'
import type { DataFolder } from '../../setup/data-folder.ts'
import type { TokenSettings } from '../../signing/types.ts'
import { isPkcs11Supported } from './cryptoki-module.ts'
import { TOKEN_SETTINGS } from './settings.ts'

/** Entry of the token thread, which each signing worker has. */
export const TOKEN_THREAD = 'src/modules/hardware-keys/worker/token.worker.ts'

/** Returns null if no token is configured. @throws SettingInvalidError if the system doesn't support tokens */
export const tokenSettingsOf = (
  { of, hangMs }: Pick<Config, 'of' | 'hangMs'>,
  folder: Pick<DataFolder, 'tokenLogin'>,
): TokenSettings | null => {
  const module = of(TOKEN_SETTINGS.module)
  const pin = of(TOKEN_SETTINGS.pin)
  if (module === '' || pin === null) return null
  const { platform, arch } = process
  if (!isPkcs11Supported(platform, arch)) {
    throw new SettingInvalidError(`pkcs11-module: hardware keys are not supported on ${platform}-${arch}`)
  }
  return {
    thread: TOKEN_THREAD,
    module,
    token: of(TOKEN_SETTINGS.token),
    pin,
    loginFile: folder.tokenLogin,
    // Ends before the pool replaces a hung worker.
    answerMs: Math.floor(hangMs / 2),
  }
}
