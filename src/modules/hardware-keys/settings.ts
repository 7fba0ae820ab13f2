import { resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import type { SettingReader } from '../../config/module-settings.ts'
import { secretSetting, secretVariable, setting, variableOf } from '../../config/setting.ts'
import { parsePath } from '../../config/setting-values.ts'
import { SettingInvalidError } from '../../config/settings.ts'

export const TOKEN_SETTINGS = {
  module: setting({
    name: 'pkcs11-module',
    description: 'Path of the PKCS#11 library for the hardware token with attester keys (Linux and macOS)',
    defaultText: '',
    parse: (text) => (text === '' ? '' : resolve(parsePath(text))),
  }),
  token: setting({
    name: 'pkcs11-token',
    description: 'Label of the hardware token',
    defaultText: '',
    parse: (text) => text,
  }),
  pin: secretSetting({
    name: 'pkcs11-pin',
    description: 'PIN of the hardware token. A refused PIN is not retried',
  }),
}

export const checkTokenSettings = (of: SettingReader): void => {
  const given = [of(TOKEN_SETTINGS.module) !== '', of(TOKEN_SETTINGS.token) !== '', of(TOKEN_SETTINGS.pin) !== null]
  if (new Set(given).size > 1) {
    throw new SettingInvalidError(
      'set all of pkcs11-module, pkcs11-token and COUNTERSIGN_PKCS11_PIN[_FILE], or none of them',
    )
  }
}

/**
 * Returns the environment for another process: the token's settings, and variables that the vendor's library may read.
 */
export const tokenEnvironment = ({ of }: Pick<Config, 'of'>): Readonly<Record<string, string>> => {
  if (of(TOKEN_SETTINGS.module) === '') return {}
  const foreign = Object.entries(process.env).filter(([name]) => !name.startsWith('COUNTERSIGN_'))
  return {
    ...(Object.fromEntries(foreign) as Record<string, string>),
    [variableOf(TOKEN_SETTINGS.module.name)]: of(TOKEN_SETTINGS.module),
    [variableOf(TOKEN_SETTINGS.token.name)]: of(TOKEN_SETTINGS.token),
    ...secretVariable(TOKEN_SETTINGS.pin, of(TOKEN_SETTINGS.pin)),
  }
}
