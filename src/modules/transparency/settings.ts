import type { Config } from '../../config/config.ts'
import type { SettingReader } from '../../config/module-settings.ts'
import { setting } from '../../config/setting.ts'
import { parseBoolean, parseInteger, parsePublicUrl } from '../../config/setting-values.ts'
import { SettingInvalidError } from '../../config/settings.ts'
import { parseVerifierKey, type VerifierKey } from './tree/note.ts'

export interface WitnessSetting {
  readonly key: VerifierKey
  /** Base URL of add-checkpoint, without a trailing slash. */
  readonly url: string
}

const WITNESSES_MAX = 20

/** @param text `KEY URL,KEY URL` with each verifier key once */
const parseWitnesses = (text: string): readonly WitnessSetting[] => {
  const witnesses = (text === '' ? [] : text.split(',')).map((part): WitnessSetting => {
    const [key = '', url = '', ...more] = part.trim().split(/\s+/)
    if (url === '' || more.length > 0) throw new Error('must be a comma-separated list of KEY URL')
    return { key: parseVerifierKey(key), url: parsePublicUrl(url) }
  })
  if (witnesses.some(({ key }) => key.type !== 'cosignature')) throw new Error('must contain witness keys')
  if (witnesses.length > WITNESSES_MAX || new Set(witnesses.map(({ key }) => key.name)).size < witnesses.length) {
    throw new Error(`must contain at most ${WITNESSES_MAX} witnesses, each only once`)
  }
  return witnesses
}

export const TREE_SETTINGS = {
  publish: setting({
    name: 'log-publish',
    description:
      'Serve /checkpoint and /tile/… of the decision log’s tree on the API listener without a key. They reveal only the number of decisions',
    defaultText: 'false',
    parse: parseBoolean,
  }),
  witnesses: setting({
    name: 'witnesses',
    description: 'Comma-separated witnesses that cosign heads of the decision log, each as KEY URL',
    defaultText: '',
    parse: parseWitnesses,
  }),
  required: setting({
    name: 'witnesses-required',
    description: 'Witnesses that must cosign a head (0 to 20)',
    defaultText: '1',
    parse: parseInteger(0, 20),
  }),
  withinSeconds: setting({
    name: 'witnesses-within-seconds',
    description:
      'Seconds after which metrics, dashboard and doctor report a head without the required cosignatures (10 to 3600)',
    defaultText: '60',
    parse: parseInteger(10, 3_600),
  }),
}

export const checkTreeSettings = (of: SettingReader): void => {
  const [count, required] = [of(TREE_SETTINGS.witnesses).length, of(TREE_SETTINGS.required)]
  if (count > 0 && required > count) {
    throw new SettingInvalidError(`witnesses-required is ${required}, but witnesses contains ${count}`)
  }
}

export interface WitnessSettings {
  readonly witnesses: readonly WitnessSetting[]
  readonly required: number
  readonly withinSeconds: number
}

export const witnessSettingsOf = ({ of }: Pick<Config, 'of'>): WitnessSettings => ({
  witnesses: of(TREE_SETTINGS.witnesses),
  required: of(TREE_SETTINGS.required),
  withinSeconds: of(TREE_SETTINGS.withinSeconds),
})
