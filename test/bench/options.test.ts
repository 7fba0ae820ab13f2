// The command line options of the benchmark.
import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OptionInvalidError, PARTS, parseOptions, USUAL_PARTS } from '../../bench/options.ts'
import { newFolder } from '../support/folder.ts'

describe('bench options', () => {
  test('default to every part except long ones, and write charts to docs/images', () => {
    const options = parseOptions([])
    expect(options?.parts).toEqual(USUAL_PARTS)
    expect(options?.imageFolder).toEndWith('docs/images')
    expect(options).toMatchObject({ json: false, connections: 64, ratePerSecond: 1_000, deployment: null })
  })

  test('--quick shortens the run and disables charts, and --rounds overrides the number of rounds', () => {
    const full = parseOptions([])
    const quick = parseOptions(['--quick', '--rounds', '7'])
    expect(quick?.durations.openMs).toBeLessThan(full?.durations.openMs ?? 0)
    expect(quick?.durations.rounds).toBe(7)
    expect(quick?.imageFolder).toBeNull()
  })

  test('--ratios runs quick rounds of the parts in its table, and disables charts', () => {
    const options = parseOptions(['--ratios'])
    expect(options).toMatchObject({ quick: true, imageFolder: null, sweep: { workers: [0, 1, 2], processes: [1, 2] } })
    expect(options?.parts).toEqual(['bare', 'service', 'keyed', 'batch', 'identity', 'scale', 'sweep', 'overload'])
    const chosen = parseOptions(['--ratios', '--only', 'scale', '--workers', '4'])
    expect(chosen).toMatchObject({ parts: ['scale'], sweep: { workers: [4] } })
  })

  test('--only keeps the order of the parts, and accepts a name for all parts', () => {
    expect(parseOptions(['--only', 'service,floor'])?.parts).toEqual(['floor', 'service'])
    expect(parseOptions(['--only', 'all'])?.parts).toEqual(PARTS)
  })

  test('long parts run if they are named, with their options', () => {
    const options = parseOptions(['--only', 'soak,sweep', '--minutes', '3', '--workers', '1,2', '--images', '/tmp/x'])
    expect(options?.parts).toEqual(['sweep', 'soak'])
    expect(options?.soakRatePerSecond).toBeNull()
    expect(parseOptions(['--soak-rate', '900'])?.soakRatePerSecond).toBe(900)
    expect(options).toMatchObject({ minutes: 3, sweep: { workers: [1, 2], processes: null }, imageFolder: '/tmp/x' })
  })

  test('a deployment requires a key and one target', () => {
    const base = ['--url', 'http://127.0.0.1:8080/']
    expect(parseOptions([...base, '--key', 'k', '--hash', 'x-1'])?.deployment).toEqual({
      url: 'http://127.0.0.1:8080',
      keys: ['k'],
      chain: 'sepolia',
      target: { verificationHash: 'x-1' },
    })
    for (const wrong of [base, [...base, '--key', 'k'], [...base, '--key', 'k', '--hash', 'x', '--to', '0x']]) {
      expect(() => parseOptions(wrong)).toThrow(OptionInvalidError)
    }
  })

  test('keys can be in a file, and generators can be commands', () => {
    const path = join(newFolder(), 'keys')
    writeFileSync(path, 'one\n\n two \n')
    const base = ['--url', 'http://127.0.0.1:8080/', '--hash', 'x-1', '--keys']
    const options = parseOptions([...base, path, '--generators', '2', '--generator', 'ssh a', '--generator', 'ssh b'])
    expect(options?.deployment?.keys).toEqual(['one', 'two'])
    expect(options?.generators).toEqual({ count: 2, commands: ['ssh a', 'ssh b'] })
    expect(() => parseOptions([...base, `${path}-missing`])).toThrow(/could not read .*-missing: ENOENT/)
    writeFileSync(path, '\n')
    expect(() => parseOptions([...base, path])).toThrow('has no key')
  })

  test.each([
    [['--only', 'nothing']],
    [['--generator', 'ssh a']],
    [['--generators', '0']],
    [['--url', 'http://h', '--hash', 'x', '--key', 'k', '--keys', '/dev/null']],
    [['--rounds', '0']],
    [['--minutes', '0']],
    [['--soak-rate', '0']],
    [['--workers', '1,,2']],
    [['--processes', '65']],
    [['--rate', '1e3']],
    [['--connections', '-1']],
    [['--unknown']],
    [['--key', 'k']],
    [['--url', 'ftp://host', '--key', 'k', '--hash', 'x']],
  ])('%j is refused', (argumentList) => {
    expect(() => parseOptions(argumentList)).toThrow(OptionInvalidError)
  })

  test('--help yields no options', () => {
    expect(parseOptions(['--help'])).toBeNull()
  })
})
