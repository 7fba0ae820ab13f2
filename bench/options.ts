// Parses and checks the bench's command line. Whether --quick was given decides the numbers of rounds and the
// durations.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

/** The parts that a run measures by default. */
export const USUAL_PARTS = ['floor', 'bare', 'service', 'keyed', 'batch', 'solana', 'stages', 'identity'] as const
/** Parts that take long and run only when `--only` names them. */
export const LONG_PARTS = ['peers', 'scale', 'sweep', 'overload', 'soak'] as const
export const PARTS = [...USUAL_PARTS, ...LONG_PARTS] as const
export type Part = (typeof PARTS)[number]

/** The parts that the table of ratios needs, with few settings of the sweep, so that the run takes minutes. */
const RATIO_PARTS: readonly Part[] = PARTS.filter(
  (part) => !['floor', 'solana', 'stages', 'peers', 'soak'].includes(part),
)
const RATIO_SWEEP = { workers: [0, 1, 2], processes: [1, 2] } as const

/** Durations in milliseconds, and numbers of rounds. */
export interface Durations {
  readonly rounds: number
  /** Warm-up of each server before the first round, in which the runtime compiles its hot code. */
  readonly firstWarmupMs: number
  /** Warm-up before each measured window. */
  readonly warmupMs: number
  readonly closedMs: number
  readonly openMs: number
  readonly stageWarmupMs: number
  readonly stageRoundMs: number
}

export interface BenchOptions {
  readonly parts: readonly Part[]
  readonly json: boolean
  readonly durations: Durations
  readonly quick: boolean
  /** Whether to measure only what the table of ratios needs. */
  readonly ratios: boolean
  readonly connections: number
  readonly ratePerSecond: number
  /** Requested secp256k1 backend of the service. */
  readonly signer: string
  /** Rate of the soak; null for 70% of the measured capacity. */
  readonly soakRatePerSecond: number | null
  /** Duration of the soak. */
  readonly minutes: number
  /** Folder for drawings; null draws nothing. */
  readonly imageFolder: string | null
  /** Settings of the sweep; null chooses them for the machine's cores. */
  readonly sweep: { readonly workers: readonly number[] | null; readonly processes: readonly number[] | null }
  /** Number of load generators on this machine, and commands that start further generators. */
  readonly generators: { readonly count: number; readonly commands: readonly string[] }
  /** A running deployment to measure; null measures local servers. */
  readonly deployment: Deployment | null
}

export interface Deployment {
  readonly url: string
  /** At least one key; requests use them in turn. */
  readonly keys: readonly string[]
  readonly chain: string
  readonly target: { readonly to: string } | { readonly verificationHash: string }
}

/** An invalid command line. The message is one line for stderr. */
export class OptionInvalidError extends Error {
  override readonly name = 'OptionInvalidError'
}

const IMAGE_FOLDER = join(import.meta.dir, '..', 'docs', 'images')

/** On two cores, the compilers use up to a tenth of the CPU time of the first ten seconds under load. */
const COMPILED_MS = 10_000

const FULL: Durations = {
  rounds: 5,
  firstWarmupMs: COMPILED_MS,
  warmupMs: 500,
  closedMs: 4_000,
  openMs: 7_000,
  stageWarmupMs: 400,
  stageRoundMs: 200,
}

const QUICK: Durations = {
  rounds: 3,
  firstWarmupMs: 2_000,
  warmupMs: 300,
  closedMs: 1_500,
  openMs: 3_000,
  stageWarmupMs: 250,
  stageRoundMs: 100,
}

const wholeNumber = (name: string, text: string | undefined, fallback: number, maximum: number): number => {
  if (text === undefined) return fallback
  const value = /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : Number.NaN
  if (!(value <= maximum)) throw new OptionInvalidError(`--${name} must be a whole number from 1 to ${maximum}`)
  return value
}

const wholeNumbers = (
  name: string,
  text: string | undefined,
  maximum: number,
  minimum: 0 | 1 = 1,
): readonly number[] | null =>
  text === undefined
    ? null
    : text.split(',').map((item) => {
        const word = item.trim()
        return minimum === 0 && word === '0' ? 0 : wholeNumber(name, word, 1, maximum)
      })

const parseParts = (text: string | undefined): readonly Part[] => {
  if (text === undefined) return USUAL_PARTS
  if (text === 'all') return PARTS
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !PARTS.some((part) => part === name))
  if (unknown !== undefined) throw new OptionInvalidError(`--only: no part is named ${unknown} (${PARTS.join(', ')})`)
  return PARTS.filter((part) => names.includes(part))
}

interface DeploymentTexts {
  readonly url?: string
  readonly key?: string
  readonly keys?: string
  readonly hash?: string
  readonly to?: string
  readonly chain?: string
}

/** @throws OptionInvalidError if the file can't be read or has no key */
const readKeys = (path: string): readonly string[] => {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new OptionInvalidError(
      `--keys: could not read ${path}: ${(cause as NodeJS.ErrnoException).code ?? 'unknown'}`,
    )
  }
  const keys = text.split('\n').flatMap((line) => line.trim() || [])
  if (keys.length === 0) throw new OptionInvalidError(`--keys: ${path} has no key`)
  return keys
}

const parseDeployment = (texts: DeploymentTexts): Deployment | null => {
  const { url, key, keys, hash, to, chain } = texts
  if (url === undefined) {
    const stray = Object.entries({ key, keys, hash, to, chain }).find(([, text]) => text !== undefined)
    if (stray !== undefined) throw new OptionInvalidError(`--${stray[0]} is for --url runs only`)
    return null
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new OptionInvalidError('--url must be an http or https URL')
  }
  if (key !== undefined && keys !== undefined) throw new OptionInvalidError('use either --key or --keys')
  const keyText = key ?? process.env['BENCH_KEY'] ?? ''
  if (keys === undefined && keyText === '') throw new OptionInvalidError('--url needs --key, --keys, or BENCH_KEY')
  if ((hash === undefined) === (to === undefined)) throw new OptionInvalidError('--url needs either --hash or --to')
  return {
    url: url.replace(/\/+$/, ''),
    keys: keys === undefined ? [keyText] : readKeys(keys),
    chain: chain ?? 'sepolia',
    target: to === undefined ? { verificationHash: hash ?? '' } : { to },
  }
}

/** Null if help was requested. @throws OptionInvalidError */
export const parseOptions = (argumentList: readonly string[]): BenchOptions | null => {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const parse = () => {
    try {
      return parseArgs({
        args: [...argumentList],
        options: {
          help: flag,
          quick: flag,
          ratios: flag,
          json: flag,
          only: text,
          rounds: text,
          connections: text,
          rate: text,
          signer: text,
          minutes: text,
          'soak-rate': text,
          workers: text,
          processes: text,
          images: text,
          url: text,
          key: text,
          keys: text,
          generators: text,
          generator: { ...text, multiple: true },
          hash: text,
          to: text,
          chain: text,
        },
      }).values
    } catch (cause) {
      throw new OptionInvalidError(cause instanceof Error ? cause.message : 'unreadable options')
    }
  }
  const values = parse()
  if (values.help) return null
  const { ratios } = values
  if (values.generator !== undefined && values.url === undefined) {
    throw new OptionInvalidError('--generator is for --url runs only')
  }
  const quick = values.quick || ratios
  const base = quick ? QUICK : FULL
  return {
    parts: ratios && values.only === undefined ? RATIO_PARTS : parseParts(values.only),
    json: values.json,
    quick,
    ratios,
    durations: {
      ...base,
      ...(ratios ? { firstWarmupMs: COMPILED_MS } : {}),
      rounds: wholeNumber('rounds', values.rounds, base.rounds, 100),
    },
    connections: wholeNumber('connections', values.connections, 64, 10_000),
    ratePerSecond: wholeNumber('rate', values.rate, 1_000, 1_000_000),
    signer: values.signer ?? 'auto',
    minutes: wholeNumber('minutes', values.minutes, 60, 100_000),
    soakRatePerSecond:
      values['soak-rate'] === undefined ? null : wholeNumber('soak-rate', values['soak-rate'], 1, 1_000_000),
    imageFolder: values.images ?? (quick ? null : IMAGE_FOLDER),
    sweep: {
      workers: wholeNumbers('workers', values.workers, 64, 0) ?? (ratios ? RATIO_SWEEP.workers : null),
      processes: wholeNumbers('processes', values.processes, 64) ?? (ratios ? RATIO_SWEEP.processes : null),
    },
    generators: {
      count: wholeNumber('generators', values.generators, 1, 64),
      commands: values.generator ?? [],
    },
    deployment: parseDeployment(values),
  }
}
