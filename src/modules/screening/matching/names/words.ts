// Words that barely identify: titles, particles and company forms, transliterated, in lowercase.

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Dropped from people's names. */
export const HONORIFICS: ReadonlySet<string> = new Set(
  words(`
  mr mrs ms miss dr prof professor sir lord lady dame hon rev reverend father fr sheikh shaikh shaykh sheik shaikhah
  mullah mulla maulavi mawlawi molvi maulana mawlana hajj haji hajji hadji haj alhaj alhaji qari ustad ustaz ayatollah hojatoleslam
  hojjat seyed sayyid sayyed syed sayed emir amir prince princess king queen president minister general gen colonel col
  lieutenant lt major maj captain capt brigadier brig admiral adm marshal commander cdr sergeant sgt
  herr frau senor senora sr sra don dona monsieur madame mme mlle signor prasident gospodin pan
  jr junior ii iii iv phd md esq
`),
)

/** Kept with little weight. */
export const PARTICLES: ReadonlySet<string> = new Set(
  words(`
  al el ul il ad as ash at az an ar ud bin ibn ben bn bint binti binte ould wuld ouled
  de del della dela di da do dos das du des van von vom zu zur der den ter ten te la le las los lo y e
  of the and und et for a
  oglu ogly kizi qizi kyzy
`),
)

/** Articles and "son of", which may be joined to the next word. */
export const JOINING_PARTICLES: ReadonlySet<string> = new Set(
  words('al el ul il ad as ash at az an ar bin ben ibn abu abd'),
)

/** Legal forms by abbreviation. Names that differ only in the form are nearly identical. */
const FORMS: readonly (readonly [canonical: string, written: string])[] = [
  ['ltd', 'ltd limited ltda limitada'],
  ['llc', 'llc ooo tov lc'],
  ['inc', 'inc incorporated'],
  ['corp', 'corp corporation corporacion'],
  ['co', 'co company cie compania compagnie'],
  ['jsc', 'jsc ojsc pjsc cjsc oao zao pao ao aoot oaoo'],
  ['plc', 'plc'],
  ['ag', 'ag aktiengesellschaft'],
  ['gmbh', 'gmbh mbh'],
  ['sa', 'sa sas saa sarl sae sl srl spa snc sca'],
  ['cv', 'cv'],
  ['bv', 'bv nv'],
  ['as', 'as asa ab oy oyj aps'],
  ['kk', 'kk kft rt zrt doo dd'],
  ['spz', 'spzoo sp zoo'],
  ['fze', 'fze fzco fzc fzllc dmcc'],
  ['pte', 'pte pty pvt private'],
  ['lp', 'lp llp'],
  ['est', 'est establishment'],
  ['group', 'group grp gruppe holding holdings'],
]
export const COMPANY_FORMS: ReadonlyMap<string, string> = new Map(
  FORMS.flatMap(([canonical, written]) => words(written).map((word) => [word, canonical])),
)

export const FORM_PHRASES: readonly (readonly [phrase: string, canonical: string])[] = [
  ['limited liability company', 'llc'],
  ['limited liability partnership', 'lp'],
  ['open joint stock company', 'jsc'],
  ['closed joint stock company', 'jsc'],
  ['public joint stock company', 'jsc'],
  ['joint stock company', 'jsc'],
  ['joint stock', 'jsc'],
  ['obshchestvo s ogranichennoy otvetstvennostyu', 'llc'],
  ['aktsionernoe obshchestvo', 'jsc'],
  ['societatea cu raspundere limitata', 'sa'],
  ['sociedad anonima', 'sa'],
  ['societe anonyme', 'sa'],
  ['sp z o o', 'spz'],
  ['s r l', 'sa'],
  ['s a r l', 'sa'],
  ['s a de c v', 'sa'],
  ['sa de cv', 'sa'],
  ['s de r l', 'sa'],
  ['o o o', 'llc'],
  ['s a', 'sa'],
  ['a g', 'ag'],
  ['l l c', 'llc'],
]

export const COMMON_COMPANY_WORDS: ReadonlySet<string> = new Set(
  words(`
  international trading trade general industries industrial industry services service import export shipping lines
  commercial enterprise enterprises bank investment investments development national exchange transport technology
  technologies petroleum oil gas energy engineering construction foundation organization association center centre
`),
)

export const NUMBER_WORDS: Readonly<Record<string, string>> = {
  one: '1',
  first: '1',
  '1st': '1',
  two: '2',
  second: '2',
  '2nd': '2',
  three: '3',
  third: '3',
  '3rd': '3',
  four: '4',
  five: '5',
  six: '6',
  seven: '7',
  eight: '8',
  nine: '9',
  ten: '10',
}

/** Spellings that the folding rules don't unify, one name per line. */
export const SAME_NAMES: readonly (readonly string[])[] = [
  'muhammad mohammad mohammed mohamed muhammed mohamad mohd mhd md mohamud mahamed mohammod muhamed mehmed mehmet',
  'abdul abd abdal abdel abdol abdoul abdu abdi abda',
  'ahmad ahmed ahmet achmed',
  'yusuf yousef youssef yusef yosef joseph josef iosif yusif yousuf',
  'ibrahim ebrahim abraham ibragim',
  'husayn hussein hussain husain hosein hossein huseyin',
  'hasan hassan hasan',
  'usama osama ussama oussama',
  'umar omar oumar omer',
  'uthman osman othman usman ousmane',
  'yahya yehia yahia',
  'sulayman suleiman soleiman sulaiman suleyman sulejman',
  'ismail ismael esmail ismayil',
  'mustafa mostafa moustafa mustapha',
  'jamal gamal djamal djamel',
  'khalid khaled halid',
  'saeed said sayid saied',
  'aleksandr alexander aleksander oleksandr alexandre alexandros aliaksandr alejandro',
  'aleksei alexey alexei oleksiy aliaksei alexis oleksii',
  'sergei sergey sergej serhiy siarhei sergio sergejs serhii',
  'mikhail michail mikhailo mykhailo mihail michael',
  'nikolai nikolay nikolaj mykola mikalai nicolai',
  'dmitry dmitri dmitriy dmytro dzmitry dimitri dimitry',
  'vladimir volodymyr uladzimir wladimir',
  'andrei andrey andriy andrej andrii',
  'yuri yuriy yury iurii jurij yurii yuriyi',
  'evgeny evgeniy yevgeny yevgeniy yevhen evgueni evgenii',
  'yelena elena olena alena jelena',
  'ekaterina yekaterina kateryna katerina',
  'pavel pavlo paul pavlos',
  'petr pyotr petro piotr pjotr petros',
  'georgy georgiy georgi georgii heorhiy georgios george',
  'grigory grigoriy hryhoriy grigori grigorii',
  'igor ihor',
  'oleg oleh',
  'konstantin constantin kostiantyn konstantinos',
  'ioannis yiannis giannis ioannes',
  'xi hsi shi',
  'zhang chang',
  'wang wong',
  'li lee yi rhee ri',
  'chen chan tan',
  'kim gim',
  'pak park bak',
  'choe choi chwe',
].map(words)
