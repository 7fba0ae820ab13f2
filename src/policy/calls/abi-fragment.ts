// Parses human-readable functions (`function transfer(address to, uint256 amount)`) and JSON ABI items. Handwritten, so
// that no regular expression runs on untrusted text and mistakes have positions.
import { keccak_256 } from '@noble/hashes/sha3.js'
import { NamedError } from '../../lib/named-error.ts'
import type { AbiFunctionItem, AbiParameterItem } from '../types/reads.ts'

/** `index` is the position of the mistake in UTF-16 code units. */
export class AbiFragmentMalformedError extends NamedError {
  readonly index: number
  constructor(message: string, index: number) {
    super(message)
    this.index = index
  }
}

interface Token {
  readonly text: string
  readonly index: number
}

const isWordCharacter = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95 || code === 36

const tokenize = (text: string): readonly Token[] => {
  const tokens: Token[] = []
  for (let i = 0; i < text.length; ) {
    const start = i
    while (i < text.length && isWordCharacter(text.charCodeAt(i))) i++
    if (i > start) {
      tokens.push({ text: text.slice(start, i), index: start })
      continue
    }
    const character = text[i] ?? ''
    i++
    if ('(),[];'.includes(character)) tokens.push({ text: character, index: start })
    else if (!' \t\r\n'.includes(character)) {
      throw new AbiFragmentMalformedError(`unexpected character ${JSON.stringify(character)}`, start)
    }
  }
  return tokens
}

const LOCATIONS: ReadonlySet<string> = new Set(['memory', 'calldata', 'storage', 'payable'])
const VISIBILITIES: ReadonlySet<string> = new Set(['external', 'public', 'virtual', 'override'])
const MUTABILITIES = ['pure', 'view', 'nonpayable', 'payable'] as const
const ALIASES: Readonly<Record<string, string>> = { uint: 'uint256', int: 'int256' }

class FragmentParser {
  readonly #tokens: readonly Token[]
  readonly #end: number
  #next = 0

  constructor(text: string) {
    this.#tokens = tokenize(text)
    this.#end = text.length
  }

  #fail(message: string): never {
    throw new AbiFragmentMalformedError(message, this.#tokens[this.#next]?.index ?? this.#end)
  }

  #peek(): string {
    return this.#tokens[this.#next]?.text ?? ''
  }

  #take(text: string): boolean {
    if (this.#peek() !== text) return false
    this.#next++
    return true
  }

  #expect(text: string): void {
    if (!this.#take(text)) this.#fail(`expected "${text}"`)
  }

  #word(what: string): string {
    const token = this.#peek()
    if (token === '' || !isWordCharacter(token.charCodeAt(0)) || /^[0-9]/.test(token)) this.#fail(`expected ${what}`)
    this.#next++
    return token
  }

  function(): AbiFunctionItem {
    this.#take('function')
    const name = this.#word('a function name')
    const inputs = this.#parameters()
    let stateMutability: (typeof MUTABILITIES)[number] = 'nonpayable'
    for (;;) {
      const word = this.#peek()
      const mutability = MUTABILITIES.find((candidate) => candidate === word)
      if (mutability !== undefined) stateMutability = mutability
      else if (!VISIBILITIES.has(word)) break
      this.#next++
    }
    const outputs = this.#take('returns') ? this.#parameters() : []
    this.#take(';')
    if (this.#peek() !== '') this.#fail('unexpected text after the function')
    return { type: 'function', name, stateMutability, inputs, outputs }
  }

  #parameters(): readonly AbiParameterItem[] {
    this.#expect('(')
    const parameters: AbiParameterItem[] = []
    if (this.#take(')')) return parameters
    do parameters.push(this.#parameter())
    while (this.#take(','))
    this.#expect(')')
    return parameters
  }

  #parameter(): AbiParameterItem {
    let type = 'tuple'
    let components: readonly AbiParameterItem[] | undefined
    if (this.#peek() === '(') components = this.#parameters()
    else {
      const word = this.#word('a type')
      if (word === 'tuple') components = this.#parameters()
      else type = ALIASES[word] ?? word
    }
    while (this.#take('[')) {
      const length = this.#take(']') ? '' : this.#arrayLength()
      type += `[${length}]`
    }
    while (LOCATIONS.has(this.#peek())) this.#next++
    const isNamed = this.#peek() !== ',' && this.#peek() !== ')'
    const name = isNamed ? this.#word('a name, a comma or a closing parenthesis') : ''
    return components === undefined ? { name, type } : { name, type, components }
  }

  #arrayLength(): string {
    const digits = this.#peek()
    if (!/^[1-9][0-9]{0,3}$/.test(digits)) this.#fail('an array length must be a number from 1 to 9999')
    this.#next++
    this.#expect(']')
    return digits
  }
}

export const parseAbiFragment = (text: string): AbiFunctionItem => new FragmentParser(text).function()

const typeText = ({ type, components }: AbiParameterItem): string =>
  components === undefined ? type : `(${components.map(typeText).join(',')})${type.slice('tuple'.length)}`

/** Returns the text whose hash yields the selector, such as `transfer(address,uint256)`. */
export const abiSignature = ({ name, inputs }: AbiFunctionItem): string => `${name}(${inputs.map(typeText).join(',')})`

/** Returns 8 hex digits. */
export const abiSelector = (signature: string): string =>
  keccak_256(new TextEncoder().encode(signature)).subarray(0, 4).toHex()
