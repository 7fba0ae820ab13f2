// Names in the scripts of their languages, compared with lists in Latin letters.
import { describe, expect, test } from 'bun:test'
import { DEFAULT_THRESHOLD } from '../../src/domain/screening-hit.ts'
import { csvRows } from '../../src/modules/screening/formats/csv-rows.ts'
import { createRandom, VARIANTS } from '../long/support/name-variants.ts'
import { nativeNames } from '../long/support/ordinary-names.ts'
import { fileOf, listed, screeningOf, screeningOfNames } from './support.ts'

const LISTED = [
  'KIM, Jong Un',
  'Chong Il KIM',
  'HWANG, Pyong So',
  'CHOE, Ryong Hae',
  'RI, Yong Mu',
  "PAK, To'-Ch'un",
  'Il-U CHO',
  'Eun-hye NAMGUNG',
  'LEE, Seung-hyun',
  'Tony CHANG Ching-hsien',
  'Yuet-ngor LAM CHENG',
  'Kwok-ki CHAN',
  'Zhang CHUNXIAN',
  'ZENG Qinghong',
  'Hasan NASRALLAH',
  'Saif-al-Din AL-MASHHADANI',
  'Noor ud Din TURABI',
  'Abdelkader LAAGOUB',
  'Yacine BOUGHANEMI',
  'Gibran BASSIL',
  'Salih AL-QARAAWI',
  'Vahid HAGHANIAN',
  'Mohammad Javad ZARIF',
  'Gholamreza SOLEIMANI',
  'Mojtaba KHAMENEI',
  'Aamir CHAUDHRI',
  'Qais AL-KHAZALI',
  'Muhammad AL-SHAYKH',
  'Abdallah AL-SENUSSI',
  'Fawzi AL-WAJIH',
]
const smallList = screeningOfNames(LISTED)
const namesFound = (name: string): readonly string[] =>
  smallList.screen({ name, kind: 'person' }, DEFAULT_THRESHOLD).hits.map((hit) => hit.name)

describe('names in the scripts of their languages', () => {
  test.each([
    ['김정은', 'KIM, Jong Un', 'Hangul, spelled in the North'],
    ['김 정은', 'KIM, Jong Un', 'Hangul with a space'],
    ['김 정 은', 'KIM, Jong Un', 'Hangul with spaces'],
    ['金正恩', 'KIM, Jong Un', 'Chinese characters of a Korean'],
    ['Gim Jeongeun', 'KIM, Jong Un', 'the spelling of the South'],
    ['Byeongseo Hwang', 'HWANG, Pyong So', 'the same with the family name last'],
    ['Hwang Byeong Seo', 'HWANG, Pyong So', 'the same in three words'],
    ['I Yongmu', 'RI, Yong Mu', 'the same with a family name of one letter'],
    ['Bak Dochun', "PAK, To'-Ch'un", 'different initial consonants'],
    ['황병서', 'HWANG, Pyong So', 'McCune-Reischauer'],
    ['최용해', 'CHOE, Ryong Hae', 'initial-sound law in a given name'],
    ['이용무', 'RI, Yong Mu', 'initial-sound law in a family name'],
    ['리룡무', 'RI, Yong Mu', 'initial-sound law in the listed spelling'],
    ['李用茂', 'RI, Yong Mu', 'initial-sound law, in Chinese characters'],
    ['박도춘', "PAK, To'-Ch'un", 'marks of McCune-Reischauer'],
    ['조일우', 'Il-U CHO', 'a first syllable that is an article elsewhere'],
    ['김정일', 'Chong Il KIM', 'a second syllable that is an article elsewhere'],
    ['남궁은혜', 'Eun-hye NAMGUNG', 'a family name of two syllables'],
    ['이승현', 'LEE, Seung-hyun', 'an individual spelling'],
    ['張慶賢', 'Tony CHANG Ching-hsien', 'Wade-Giles'],
    ['林鄭月娥', 'Yuet-ngor LAM CHENG', 'Cantonese, two family names'],
    ['陈国基', 'Kwok-ki CHAN', 'Cantonese, simplified characters'],
    ['김정은씨', 'KIM, Jong Un', 'a title written with the name'],
    ['김정은 위원장', 'KIM, Jong Un', 'a title after the name'],
    ['친애하는김정은', 'KIM, Jong Un', 'words before the name'],
    ['김정은김정은', 'KIM, Jong Un', 'the name twice'],
    ['김정은1', 'KIM, Jong Un', 'a digit'],
    ['金正恩同志', 'KIM, Jong Un', 'a title in Chinese characters'],
    ['김정은 Perez', 'KIM, Jong Un', 'a word in Latin letters'],
    ['김正恩', 'KIM, Jong Un', 'Hangul and Chinese characters in one word'],
    ['김 正恩', 'KIM, Jong Un', 'and in two'],
    ['Jong-un 金', 'KIM, Jong Un', 'the family name alone in Chinese characters'],
    ['김 Jong Un', 'KIM, Jong Un', 'the family name alone in Hangul'],
    ['Kim 정은', 'KIM, Jong Un', 'the given name alone in Hangul'],
    ['朴 To Chun', "PAK, To'-Ch'un", 'a character with a different reading in Korean'],
    ['张春贤', 'Zhang CHUNXIAN', 'Pinyin'],
    ['曾庆红', 'ZENG Qinghong', 'a character with a different reading as a family name'],
    ['حسن نصر الله', 'Hasan NASRALLAH', 'two words that Latin joins'],
    ['حسننصرالله', 'Hasan NASRALLAH', 'all as one word'],
    ['حسن نصرالله', 'Hasan NASRALLAH', 'the same as one word'],
    ['سيف الدين المشهداني', 'Saif-al-Din AL-MASHHADANI', 'two words that Latin writes apart'],
    ['نورالدین ترابی', 'Noor ud Din TURABI', 'one word that Latin writes as three'],
    ['عبد القادر لاغوب', 'Abdelkader LAAGOUB', 'ق as k, doubled a'],
    ['ياسين بوغانمي', 'Yacine BOUGHANEMI', 'c as s, ou as و'],
    ['جبران باسيل', 'Gibran BASSIL', 'ج as g'],
    ['صالح القرعاوي', 'Salih AL-QARAAWI', 'a pronounced final h, ع as a vowel'],
    ['وحید حقانیان', 'Vahid HAGHANIAN', 'و as v, ق as gh'],
    ['محمدجواد ظریف', 'Mohammad Javad ZARIF', 'two given names written as one'],
    ['غلامرضا سلیمانی', 'Gholamreza SOLEIMANI', 'two given names that Latin also joins'],
    ['مجتبی خامنه\u200cای', 'Mojtaba KHAMENEI', 'a silent h before a suffix'],
    ['عامر چودري', 'Aamir CHAUDHRI', 'چ as ch'],
    ['قيس الخزعلي', 'Qais AL-KHAZALI', 'the article'],
    ['محمد الشيخ بوبريز الغرسي', 'Muhammad AL-SHAYKH', 'a title in another spelling, with added words'],
    ['عبداله السنوسي', 'Abdallah AL-SENUSSI', 'a letter of God left out'],
    ['فوزي الوجيه', 'Fawzi AL-WAJIH', 'a final h after a long vowel'],
  ])('%s is %s (%s)', (name, listed) => expect(namesFound(name)).toEqual([listed]))

  test.each([
    ['김정훈', 'another given name'],
    ['은정김', 'the family name last'],
    ['金正男', 'another given name'],
    ['조우', 'one syllable of a given name'],
    ['이용', 'one syllable of another'],
    ['陈国华', 'another given name'],
    ['حسن سليم', 'another family name'],
    ['حسين نصر الله', 'another given name'],
    ['قوس الخزاعيل', 'other long vowels'],
  ])('%s is nobody (%s)', (name) => expect(namesFound(name)).toEqual([]))
})

test.each([
  ['기ㅁ정은', 'disguised', 'a part of a syllable'],
  ['ㄱㅣㅁㅈㅓㅇㅇㅡㄴ', 'disguised', 'parts of syllables'],
  ['김恩恩', 'disguised', 'two scripts in one word'],
  ['金正恩'.repeat(5), 'unreadable', 'more characters than are read'],
  ['김정은', null, 'a name'],
  ['حسينغلامرشيد محمودحامدنور يوسفصالحسعيد', null, 'three words that could be two'],
  ['حسينغلامرشيد محمودحامدنور يوسفصالحسعيد جمالكريموليدرضاعمر طارق', 'too-many-ways', 'more words that may be two'],
  ['ذخذخذخذ', 'too-many-ways', 'a word with more readings than are compared'],
  ['חוחוחוחוב', 'too-many-ways', 'the same in Hebrew'],
  ['גבריאלוביץכהן '.repeat(6), 'too-many-ways', 'more words that may be two, in Hebrew'],
] as const)('%s is %p (%s)', (name, problem) => {
  expect(smallList.screen({ name, kind: 'person' }, DEFAULT_THRESHOLD).problem).toBe(problem)
})

describe('names that lists publish in both scripts', () => {
  const rows = [...csvRows(new TextDecoder().decode(fileOf('native-names.csv')))].slice(1)
  const pairs = rows.map(([script = '', native = '', list = '', entry = '', names = '']) => {
    return { script, native, id: `${list} ${entry}`, names: names.split(';') }
  })
  const namesOf = new Map(pairs.map(({ id, names }) => [id, names]))
  const entries = [...namesOf].map(([id, names]) => listed(id, names))
  const screening = screeningOf(entries)
  const hitsOf = (name: string) => screening.screen({ name, kind: 'person' }, DEFAULT_THRESHOLD).hits

  /** Known misses. A fault in any reading would add more. */
  const MISSED = { Arabic: 17, Cantonese: 1, Cyrillic: 0, Hangul: 0, Hanja: 0, Mandarin: 1, Persian: 7 }

  test('are found, with few exceptions', () => {
    const missed = Object.fromEntries(pairs.map(({ script }) => [script, 0]))
    for (const { native, id, script } of pairs) {
      if (!hitsOf(native).some(({ entry }) => entry === id)) missed[script]! += 1
    }
    expect(missed).toEqual(MISSED)
  })

  test('are found even if the listed Latin spelling is mistyped, reordered or shortened', () => {
    const random = createRandom(20260227)
    const tenth = entries.filter((_, at) => at % 10 === 0)
    const missed = VARIANTS.flatMap((variant) =>
      tenth.flatMap((entry) => {
        const name = variant.suits(entry) ? variant.write(entry.names[0] ?? '', random, entry) : null
        return name === null || hitsOf(name).some((hit) => hit.entry === entry.id) ? [] : [name]
      }),
    )
    expect(missed).toEqual(['ALLAH DA DMATuN'])
  })

  test('at most one in a thousand ordinary names is a hit', () => {
    const names = nativeNames(createRandom(20260227), 2_000)
    expect(names.filter(({ name }) => hitsOf(name).length > 0).length).toBeLessThanOrEqual(0.001 * names.length)
  })
})
