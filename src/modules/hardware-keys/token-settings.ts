// The hardware token that the settings name.
import type { Config } from '../../config/config.ts'
import { SettingInvalidError } from '../../config/settings.ts'
import type { DataFolder } from '../../setup/data-folder.ts'
import type { TokenSettings } from '../../signing/types.ts'
import { isPkcs11Supported } from './module.ts'

export type TokenConfig = Pick<Config, 'pkcs11Module' | 'pkcs11Token' | 'pkcs11Pin' | 'hangMs'>

/** @returns null where no token is set. @throws SettingInvalidError where the system can't have one */
export const tokenSettingsOf = (config: TokenConfig, folder: Pick<DataFolder, 'tokenLogin'>): TokenSettings | null => {
  const { pkcs11Module, pkcs11Token, pkcs11Pin, hangMs } = config
  if (pkcs11Module === '' || pkcs11Pin === null) return null
  const { platform, arch } = process
  if (!isPkcs11Supported(platform, arch)) {
    throw new SettingInvalidError(`pkcs11-module: keys in hardware are not supported on ${platform}-${arch}`)
  }
  return {
    module: pkcs11Module,
    token: pkcs11Token,
    pin: pkcs11Pin,
    loginFile: folder.tokenLogin,
    // Before the pool takes the worker for hung and replaces it.
    answerMs: Math.floor(hangMs / 2),
  }
}
