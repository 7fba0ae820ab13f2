// Messages of the page: complete in every language; the consent text changes only with its version.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { formatDays, formatWait } from '../../../src/pages/lengths.ts'
import { AGREEMENT_VERSION } from '../../../src/portal/contract.ts'
import { english, type Messages } from '../../../src/portal/page/messages/english.ts'
import { german } from '../../../src/portal/page/messages/german.ts'
import { preferredLanguage, requestedLanguage } from '../../../src/portal/preferred-language.ts'

type Tree = { readonly [key: string]: unknown }

/** Every text by its path; functions are called with unique placeholders. */
const textsOf = (tree: Tree, path = ''): ReadonlyMap<string, string> => {
  const texts = new Map<string, string>()
  for (const [key, value] of Object.entries(tree)) {
    const place = path === '' ? key : `${path}.${key}`
    if (typeof value === 'string') texts.set(place, value)
    else if (typeof value === 'function') {
      const speak = value as (...values: unknown[]) => string
      texts.set(place, key === 'listOf' ? speak(['A', 'B', 'C']) : speak('«1»', '«2»', '«3»', '«4»'))
    } else for (const [inner, text] of textsOf(value as Tree, place)) texts.set(inner, text)
  }
  return texts
}

const words = { en: textsOf(english as unknown as Tree), de: textsOf(german as unknown as Tree) }

/** Names and words that are the same in both languages. */
const SAME = new Set([
  'wallets.chain',
  'wallets.count',
  'wallets.chainOther',
  'manual.chain',
  'details.owner',
  'details.ownerName',
  'documents.image',
  'documents.imageOrPdf',
  'steps.wallets',
  'parts.wallets',
  'partsInline.wallets',
  'review.wallets',
  'welcome.detailsText',
])

describe('messages', () => {
  test('exist in every language, and are not empty', () => {
    expect([...words.de.keys()]).toEqual([...words.en.keys()])
    for (const [language, texts] of Object.entries(words)) {
      for (const [place, text] of texts) expect([language, place, text.trim()]).not.toContain('')
    }
  })

  test('are translated with the same values', () => {
    for (const [place, text] of words.en) {
      const other = words.de.get(place) ?? ''
      if (!SAME.has(place)) expect([place, other]).not.toEqual([place, text])
      const values = (of: string): readonly string[] => [...new Set(of.match(/«\d»/g) ?? [])].sort()
      expect([place, ...values(other)]).toEqual([place, ...values(text)])
    }
  })

  test('use the correct plural for 0, 1, 2 and 1,000', () => {
    const counted = (messages: Messages, count: number): readonly string[] => [
      messages.common.stepOf(count, count),
      messages.wallets.lead(count),
      messages.wallets.count(count, count),
      messages.wallets.full(count),
      messages.manual.expires(count),
      messages.details.owner(count),
      messages.details.removeOwner(count),
      messages.details.sum(count),
      messages.details.problems(count),
      messages.documents.limits('PDF', count),
      messages.documents.uploading(count),
      messages.documents.full(count),
      messages.documents.tooLarge(count),
      messages.review.share(count),
      messages.errors.limit(count),
      formatDays(count, messages.locale),
      messages.welcome.waitUsual(formatWait(count * 60, messages.locale)),
      messages.welcome.waitUsual(formatWait(count * 3_600, messages.locale)),
      messages.welcome.waitUsual(formatWait(count * 86_400, messages.locale)),
    ]
    const wrong = {
      en: /\b1 (?:minutes|hours|days|entries|wallets|files)\b|\b(?:0|2|1,000) (?:minute|hour|day|entry|wallet|file)\b|1000/,
      de: /\b1 (?:Minuten|Stunden|Tage|Eingaben|Wallets)\b|\b(?:0|2|1\.000) (?:Minute|Stunde|Tag|Eingabe|Wallet)\b|1000|als 1 sind/,
    }
    const texts = { en: english, de: german }
    for (const language of ['en', 'de'] as const) {
      for (const count of [0, 1, 2, 1_000]) {
        for (const text of counted(texts[language], count)) expect(text).not.toMatch(wrong[language])
      }
    }
    expect(english.manual.expires(1)).toContain('1 minute,')
    expect(german.manual.expires(1_000)).toContain('1.000 Minuten lang,')
  })

  test('round up a wait, in the largest unit with a value of at least two', () => {
    const minutes = [0, 1, 119, 121, 47 * 60, 50 * 60].map((count) => formatWait(count * 60, 'en-GB'))
    expect(minutes).toEqual(['1 minute', '1 minute', '119 minutes', '3 hours', '47 hours', '3 days'])
  })
})

test('the consent text changes only with its version: raise AGREEMENT_VERSION, then record the new hashes', () => {
  const hashOf = (texts: Tree): string =>
    createHash('sha256')
      .update(JSON.stringify([...textsOf(texts)]))
      .digest('hex')
      .slice(0, 16)
  expect({
    version: AGREEMENT_VERSION,
    en: hashOf(english.consent as unknown as Tree),
    de: hashOf(german.consent as unknown as Tree),
  }).toEqual({ version: '4', en: '00bba78621ddd962', de: '2b06603ba91dc978' })
})

test('the language is the chosen one, then the first supported language of the browser, then English', () => {
  expect(preferredLanguage('de', ['en-GB'])).toBe('de')
  expect(preferredLanguage(null, ['fr-FR', 'de-AT', 'en'])).toBe('de')
  expect(preferredLanguage('xx', ['fr'])).toBe('en')
  const requested = (languages: string) => requestedLanguage(new Headers({ 'accept-language': languages }))
  expect([requested('fr;q=0.9, de-AT;q=0.8'), requested('en-US,de'), requested('')]).toEqual(['de', 'en', 'en'])
})
