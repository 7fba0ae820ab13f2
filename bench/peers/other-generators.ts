// wrk and h2load as independent load generators, with the same requests and number of connections as the bench.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bodyText, makeBody } from '../load/requests.ts'
import type { LoadTarget } from '../parts/measure-load.ts'
import type { Processes } from '../processes.ts'

export const OTHER_GENERATORS = ['wrk', 'h2load'] as const
export type OtherGenerator = (typeof OTHER_GENERATORS)[number]

export interface OtherRun {
  readonly connections: number
  readonly seconds: number
}

/** Returns requests per second with a 2xx answer. @throws Error if the output has no rate */
export const readRate = (generator: OtherGenerator, output: string): number => {
  if (generator === 'wrk') {
    const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1])
    const total = Number(/(\d+) requests in/.exec(output)?.[1])
    const bad = Number(/Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? 0)
    if (rate > 0) return (rate * (total - bad)) / total
  } else {
    const [, seconds, unit] = /finished in ([\d.]+)(ms|s)/.exec(output) ?? []
    const good = Number(/status codes: (\d+) 2xx/.exec(output)?.[1])
    if (seconds !== undefined && good > 0) return good / (Number(seconds) * (unit === 'ms' ? 0.001 : 1))
  }
  throw new Error(`${generator}: no rate in its output: ${output.slice(0, 300)}`)
}

/** wrk reads its requests from a script; h2load sends one body. Both send HTTP/1.1 from one thread. */
const commandOf = (
  generator: OtherGenerator,
  target: LoadTarget,
  { connections, seconds }: OtherRun,
  folder: string,
): string[] => {
  const bodies = Array.from({ length: 256 }, (_, index) => bodyText(makeBody(target.bodies, index)))
  const headers = { 'content-type': 'application/json', ...target.headers }
  if (generator === 'h2load') {
    const file = join(folder, 'body.json')
    writeFileSync(file, bodies[0] ?? '')
    const shown = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
    return ['h2load', '--h1', '-t1', `-c${connections}`, `-D${seconds}`, '-d', file, ...shown, target.url]
  }
  const file = join(folder, 'requests.lua')
  const lines = [
    'wrk.method = "POST"',
    ...Object.entries(headers).map(
      ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
    ),
    `local bodies = { ${bodies.map((body) => JSON.stringify(body)).join(', ')} }`,
    'local next = 0',
    'request = function() next = next % #bodies + 1 return wrk.format(nil, nil, nil, bodies[next]) end',
  ]
  writeFileSync(file, lines.join('\n'))
  return ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '-s', file, target.url]
}

/** Answers per second with status 2xx, measured by another generator. */
export const runOtherGenerator = async (
  processes: Processes,
  generator: OtherGenerator,
  target: LoadTarget,
  run: OtherRun,
): Promise<number> => {
  const command = commandOf(generator, target, run, processes.temporaryFolder())
  return readRate(generator, await processes.run(generator, command))
}
