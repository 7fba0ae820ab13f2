// `countersign screening settings`: shows or changes an organization's screening settings.
import type { HitAction } from '../../domain/screening-hit.ts'
import type { Opened } from '../admin-client.ts'
import { findOrganization } from '../in-organization.ts'
import { parseWhole } from '../key-options.ts'
import { type CommandOutput, type ParsedCommand, print, UsageError } from '../output.ts'

export const SETTINGS_TEXTS = [
  'threshold',
  'on-new-hit',
  'address-lists',
  'screeners',
  'screener-score',
  'screeners-again',
] as const

const DEFAULT = 'default'
const NONE = 'none'

const namesGiven = (text: string): string[] | null => {
  if (text === DEFAULT) return null
  return text === NONE ? [] : text.split(',').map((name) => name.trim())
}

const switchGiven = (flag: string, text: string): boolean => {
  if (text !== 'on' && text !== 'off') throw new UsageError(`${flag} is on or off`)
  return text === 'on'
}

const bodyOf = (command: ParsedCommand) => {
  const [threshold, onNewHit, lists, screeners, score, again] = SETTINGS_TEXTS.map((name) => command.text(name))
  return {
    ...(threshold === undefined ? {} : { threshold: parseWhole(threshold, '--threshold') }),
    // The operation checks the value.
    ...(onNewHit === undefined ? {} : { on_new_hit: onNewHit as HitAction }),
    ...(lists === undefined ? {} : { address_lists: namesGiven(lists) }),
    ...(screeners === undefined ? {} : { screeners: namesGiven(screeners) }),
    ...(score === undefined ? {} : { screener_score: score === NONE ? null : parseWhole(score, '--screener-score') }),
    ...(again === undefined ? {} : { screeners_again: switchGiven('--screeners-again', again) }),
  }
}

const wordsOf = (names: readonly string[] | null, otherwise: string): string =>
  names === null ? otherwise : names.length === 0 ? NONE : names.join(', ')

export const screeningSettings = async ({
  admin,
  output,
  command,
}: Opened & { readonly output: CommandOutput; readonly command: ParsedCommand }): Promise<void> => {
  const { id, slug } = await findOrganization({ admin }, command.text('org') ?? 'demo')
  const params = { organization: id }
  const body = bodyOf(command)
  const settings =
    Object.keys(body).length === 0
      ? await admin.call('GET /organizations/{organization}/screening', { params })
      : await admin.call('PUT /organizations/{organization}/screening', {
          params,
          body,
          flags: Object.fromEntries(SETTINGS_TEXTS.map((name) => [name.replaceAll('-', '_'), `--${name}`])),
        })
  print({ output, command }, { slug, ...settings }, [
    ['SETTING', slug],
    ['threshold', String(settings.threshold)],
    ['on-new-hit', settings.on_new_hit],
    ['address-lists', wordsOf(settings.address_lists, 'of sanctioned people, and deny')],
    ['screeners', wordsOf(settings.screeners, 'all that are configured')],
    ['screener-score', settings.screener_score === null ? NONE : String(settings.screener_score)],
    ['screeners-again', settings.screeners_again ? 'on' : 'off'],
  ])
}
