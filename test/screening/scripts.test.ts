// Names in scripts other than Latin: those with a reading are found, and all others have a problem.
import { describe, expect, test } from 'bun:test'
import { DEFAULT_THRESHOLD } from '../../src/domain/screening-hit.ts'
import { screeningOfNames } from './support.ts'

const UNCOMPARED: Readonly<Record<string, string>> = {
  Devanagari: 'दाऊद इब्राहिम',
  Bengali: 'বেনজীর আহমেদ',
  Gurmukhi: 'ਵਧਾਵਾ ਸਿੰਘ',
  Gujarati: 'દાઉદ ઇબ્રાહિમ',
  Oriya: 'ଦାଉଦ ଇବ୍ରାହିମ',
  Tamil: 'வேலுப்பிள்ளை பிரபாகரன்',
  Telugu: 'నరేంద్ర మోదీ',
  Kannada: 'ದಾವೂದ್ ಇಬ್ರಾಹಿಂ',
  Malayalam: 'ദാവൂദ് ഇബ്രാഹിം',
  Sinhala: 'ශවේන්ද්\u200dර සිල්වා',
  Thai: 'ประสิทธิ์ ชีวินนิติปัญญา',
  Lao: 'ນາຍ ສົມ',
  Burmese: 'မင်းအောင်လှိုင်',
  Khmer: 'ទ្រី ភាព',
  Tibetan: 'བསྟན་འཛིན',
  Ethiopic: 'ኣብርሃ ካሳ',
  Thaana: 'ސުމައްޔާ',
  Syriac: 'ܡܫܝܚܐ ܫܡܥܘܢ',
  Mongolian: 'ᠪᠠᠲᠤ',
  Tifinagh: 'ⵎⵓⵃⵎⵎⴰⴷ',
  "N'Ko": 'ߞߊ߲ߕߍ',
  Javanese: 'ꦗꦮ',
  Bopomofo: 'ㄓㄤ ㄙㄢ',
  Adlam: '𞤀𞤣𞤢𞤥',
  Cherokee: 'ᏣᎳᎩ',
  'Ol Chiki': 'ᱥᱟᱱᱛᱟᱲᱤ',
  'Meetei Mayek': 'ꯃꯤꯇꯩ',
}
const inLatin = screeningOfNames(['Dawood IBRAHIM', 'Min Aung HLAING'])
const inOtherScripts = screeningOfNames(Object.values(UNCOMPARED))

describe('a name in a script without a reading', () => {
  test.each(Object.entries(UNCOMPARED))('%s has a problem, and is found if a list has the same', (_script, name) => {
    const subject = { name, kind: 'person' } as const
    expect(inLatin.screen(subject, DEFAULT_THRESHOLD).problem).toBeOneOf(['unreadable', 'disguised'])
    const { hits, problem } = inOtherScripts.screen(subject, 100)
    expect(hits.map((hit) => hit.name)).toContain(name)
    expect(problem).not.toBeNull()
  })

  test('has a problem even next to words with a reading', () => {
    expect(inLatin.screen({ name: 'Dawood इब्राहिम' }, DEFAULT_THRESHOLD).problem).toBe('unreadable')
  })
})

/** Invented people, with names in the spelling of their languages and of the English press. */
const ARMENIAN = [
  ['Նիկոլ Սիմոնյան', 'Nikol Simonyan'],
  ['Սերժ Միրզոյան', 'Serzh Mirzoyan'],
  ['Ռոբերտ Վարդանյան', 'Robert Vardanyan'],
  ['Արմեն Խաչատուրյան', 'Armen Khachaturyan'],
  ['Հովիկ Կարապետյան', 'Hovik Karapetyan'],
  ['Տիգրան Շարմազանով', 'Tigran Sharmazanov'],
  ['Գագիկ Դինք', 'Gagik Dink'],
  ['Ալեն Քոչարյան', 'Alen Kocharyan'],
  ['Արարատ Գրիգորյան', 'Ararat Grigoryan'],
  ['Ռուբեն Տեր-Պետրոսյան', 'Ruben Ter-Petrosyan'],
  ['Վահագն Արսենյան', 'Vahagn Arsenyan'],
  ['Սամվել Ասլանյան', 'Samvel Aslanyan'],
  ['Էդուարդ Խոջայան', 'Eduard Khojayan'],
  ['Հրանտ Գասպարյան', 'Hrant Gasparyan'],
  ['Շավարշ Չարենց', 'Shavarsh Charents'],
  ['Մհեր Ոսկանյան', 'Mher Voskanyan'],
  ['Լևոն Հովհաննիսյան', 'Levon Hovhannisyan'],
  ['Գուրգեն Ղազարյան', 'Gurgen Ghazaryan'],
  ['Արթուր Փաշինյան', 'Artur Pashinyan'],
  ['Խորեն Սարգսյան', 'Khoren Sargsyan'],
  ['Ջիվան Քոչարյան', 'Jivan Kocharyan'],
  ['Եղիշե Սարգսյան', 'Yeghishe Sarkissian'],
  ['Որդան Աբրահամյան', 'Vordan Abrahamyan'],
  ['Յուրի Խաչատրյան', 'Yuri Khachatryan'],
  ['Հայկ Ծառուկյան', 'Hayk Tsarukyan'],
] as const
const GEORGIAN = [
  ['ბიძინა მურუსიძე', 'Bidzina Murusidze'],
  ['ირაკლი ბათირაშვილი', 'Irakli Batirashvili'],
  ['მიხეილ წერეთელი', 'Mikheil Tsereteli'],
  ['ვახტანგ გამსახურდია', 'Vakhtang Gamsakhurdia'],
  ['ოთარ შარტავა', 'Otar Shartava'],
  ['ზვიად ნოდია', 'Zviad Nodia'],
  ['მიხეილ კალაძე', 'Mikheil Kaladze'],
  ['ლევან პაპუაშვილი', 'Levan Papuashvili'],
  ['თარხან ყიფშიძე', 'Tarkhan Kipshidze'],
  ['ვალერიან იოსელიანი', 'Valerian Ioseliani'],
  ['კონსტანტინე ზღულაძე', 'Konstantine Zguladze'],
  ['ჟიული ამირეჯიბი', 'Zhiuli Amirejibi'],
  ['ღია წულუკიანი', 'Ghia Tsulukiani'],
  ['კახა კუტუბიძე', 'Kakha Kutubidze'],
  ['შალვა ივანიშვილი', 'Shalva Ivanishvili'],
  ['გიორგი კობახიძე', 'Giorgi Kobakhidze'],
  ['ჯაბა სააკაშვილი', 'Jaba Saakashvili'],
  ['ეკა გომელაური', 'Eka Gomelauri'],
  ['ჭაბუა ფარცხალაძე', 'Chabua Partskhaladze'],
  ['ქეთევან ხარაზიშვილი', 'Ketevan Kharazishvili'],
  ['ყარამან ჩინჩალაძე', 'Karaman Chinchaladze'],
] as const
const HEBREW = [
  ['יצחק פרץ', 'Yitzhak Peretz'],
  ['בנימין גרטלר', 'Binyamin Gertler'],
  ['ינון שטיינמץ', 'Yinon Steinmetz'],
  ['עינן כהן', 'Einan Cohen'],
  ['שלום מזרחי', 'Shalom Mizrahi'],
  ['משה גולדברג', 'Moshe Goldberg'],
  ['אלישע פרץ', 'Elisha Peretz'],
  ['בצלאל פרידמן', 'Bezalel Friedman'],
  ['דן אזולאי', 'Dan Azoulay'],
  ['בני שרון', 'Beny Sharon'],
  ['אברהם ברק', 'Avraham Barak'],
  ['יעקב ליברמן', 'Yaakov Lieberman'],
  ['רחל לפיד', 'Rachel Lapid'],
  ['שרה בנט', 'Sarah Bennett'],
  ['מיכאל סער', 'Michael Saar'],
  ['נועם יעלון', 'Noam Yaalon'],
  ['אריאל פרס', 'Ariel Peres'],
  ['אהוד דיליאן', 'Ehud Dilian'],
  ['אביגדור רמון', 'Avigdor Ramon'],
  ['יאיר כהן', 'Yair Cohen'],
  ['נפתלי וייס', 'Naftali Weiss'],
  ['גדעון אברמוביץ', 'Gideon Abramovich'],
  ['משה דריפסקה', 'Moshe Deripaska'],
  ["שמעון פריגוז'ין", 'Shimon Prigozhin'],
  ['טל פולק', 'Tal Pollak'],
  ['חיים זילברמן', 'Haim Zilberman'],
  ['יוסי בגין', 'Yossi Begin'],
  ['דניאלה גולדשטיין', 'Daniella Goldstein'],
  ['שמואל שיקלי', 'Shmuel Chikli'],
  ['אולג סטרוק', 'Oleg Strook'],
  ['יבגני הנגבי', 'Yevgeny Hanegbi'],
  ['יהונתן ארדן', 'Yehonatan Erdan'],
  ['רבקה כץ', 'Rivka Katz'],
  ['מנחם רגב', 'Menachem Regev'],
  ['לאה כהן', 'Leah Cohen'],
  ['עמיחי גלנט', 'Amichai Gallant'],
  ['אורית הלוי', 'Orit Halevi'],
  ['צחי שליין', 'Tzachi Schleien'],
  ['גלעד אייל', 'Gilad Eyal'],
  ['ישראל חיות', 'Israel Hayut'],
  ['מירי לבני', 'Miri Livni'],
  ['אלי אלקין', 'Eli Elkin'],
  ['יואב דרמר', 'Yoav Dermer'],
  ['הרצי גנץ', 'Herzi Gantz'],
  ['ליאור איזנקוט', 'Lior Eisenkot'],
  ['נדב מופז', 'Nadav Mofaz'],
  ['אסתר כהנא', 'Esther Kahane'],
  ['ציפי גולדשטיין', 'Tzipi Goldstein'],
  ['זאב לבייב', 'Zeev Leviev'],
  ["רון אברמוביץ'", 'Ron Abramovich'],
  ['בנימין וקסלברג', 'Benjamin Vekselberg'],
  ['גדי פוטין', 'Gadi Putin'],
  ['שאול הנייה', 'Shaul Haniyeh'],
  ['מאיר סינוואר', 'Meir Sinwar'],
  ['ברוך נסראללה', 'Baruch Nasrallah'],
  ['לב עבאס', 'Lev Abbas'],
  ['רומן דף', 'Roman Deif'],
  ['ויקטור קפלן', 'Viktor Kaplan'],
  ['ולדימיר וולף', 'Vladimir Wolf'],
  ['איסמעיל נתניהו', 'Ismail Netanyahu'],
  ['יחיא לוי', 'Yahya Levi'],
  ["חסן תנג'יל", 'Hassan Tanjil'],
  ['מחמוד זיכרמן', 'Mahmoud Zicherman'],
  ['מוחמד שרביט', 'Mohammed Sharvit'],
  ['יוסף ירד', 'Joseph Yered'],
  ['יעקב סמוטריץ', 'Jacob Smotrich'],
] as const

describe('a name in a script with a reading', () => {
  const all = screeningOfNames([
    ...[...ARMENIAN, ...GEORGIAN, ...HEBREW].map(([, latin]) => latin),
    'Noam BEN-ZION',
    'Einan TANJIL',
  ])
  const screen = (name: string) => all.screen({ name, kind: 'person' }, DEFAULT_THRESHOLD)
  const MISSED = 'Shmuel Chikli,Leah Cohen,Tzachi Schleien,Lior Eisenkot,Benjamin Vekselberg,Lev Abbas,Roman Deif'

  test.each([
    ['Armenian', '', ARMENIAN],
    ['Georgian', '', GEORGIAN],
    ['Hebrew', MISSED, HEBREW],
  ] as const)('is found: %s, except %p', (_, expected, pairs) => {
    const missed = pairs.filter(([name, latin]) => {
      const { hits, problem } = screen(name)
      expect(problem).toBeNull()
      return !hits.some((hit) => hit.name === latin)
    })
    expect(missed.map(([, latin]) => latin).join()).toBe(expected)
  })

  test.each(['נועם בן־ציון', "עינן תנג'יל", 'עינן תנג׳יל'])(
    'is split at Hebrew hyphens, and read without Hebrew marks: %s',
    (name) => expect(screen(name).hits).toHaveLength(1),
  )

  test.each([
    ['Arabic', 'ابتثجحخدذرزسشصضطظعغفقكلمنهويءآأؤإئىة', null],
    ['Persian', 'پچژگکی', null],
    ['Urdu', 'ٹڈڑںھہےۓۂ', null],
    ['Pashto', 'ټځڅډړږښګڼېۍ', null],
    ['Kurdish', 'ڕڵۆێەڤ', null],
    ['Sindhi', 'ڀڄڃڊڌڏڍڙڦڳڱڻ', 'unreadable'],
    ['Hebrew', 'אבגדהוזחטיכךלמםנןסעפףצץקרשת', null],
    ['Yiddish', 'װױײ', 'unreadable'],
  ] as const)('is read completely, or has a problem: %s', (_language, letters, problem) => {
    for (const letter of letters) {
      const beside = /\p{Script=Hebrew}/u.test(letter) ? 'שלמ' : 'محم'
      expect([letter, screen(beside + letter).problem]).toEqual([letter, problem])
    }
  })
})
