// A local EVM node for one test file: anvil's binary from node_modules on a free loopback port, in a folder of its own,
// stopped with the file, and with the process however that ends. Nothing is downloaded and nothing outside loopback is reached.
import { describe, setDefaultTimeout, test } from 'bun:test'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startWatchdog } from '../support/watchdog.ts'

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

const findBinary = (): string | null => {
  const architecture = ARCHITECTURES[process.arch]
  if (architecture === undefined) return null
  try {
    const require = createRequire(import.meta.url)
    const manifest = require.resolve(`@foundry-rs/anvil-${process.platform}-${architecture}/package.json`)
    const binary = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil')
    accessSync(binary, constants.X_OK)
    return binary
  } catch {
    // No package for this platform, or not installed: the tests that need it say so and are skipped.
    return null
  }
}

const ANVIL_BINARY = findBinary()

/** A suite that needs a node; where there is none, one skipped test that names it. */
export const describeOnChain = (name: string, define: () => void): void => {
  // The first file of a fresh clone compiles the contracts: seconds of CPU, more on a busy machine.
  setDefaultTimeout(120_000)
  if (ANVIL_BINARY !== null) describe(name, define)
  else test.skipIf(true)(`${name} (no anvil binary for ${process.platform} ${process.arch})`, () => undefined)
}

export interface AnvilProcess {
  readonly url: string
  stop(): Promise<void>
}

/**
 * Resolves once the node answers.
 * @param gas free: senders need no money. usual: fees as on a public chain, which wallets' own estimates expect.
 * @throws Error when it ends before, with what it printed.
 */
export const startAnvil = async (chainId: number, gas: 'free' | 'usual' = 'free'): Promise<AnvilProcess> => {
  if (ANVIL_BINARY === null) throw new Error('anvil is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'countersign-anvil-'))
  const child = Bun.spawn(
    [
      ANVIL_BINARY,
      '--host',
      '127.0.0.1',
      '--port',
      '0',
      '--chain-id',
      String(chainId),
      '--hardfork',
      'cancun',
      ...(gas === 'free' ? ['--gas-price', '0', '--base-fee', '0', '--disable-min-priority-fee'] : []),
      '--threads',
      '1',
    ],
    {
      cwd: folder,
      env: { HOME: folder, PATH: process.env['PATH'] ?? '', TMPDIR: folder },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  const watchdog = startWatchdog(child.pid, folder)

  let printed = ''
  let ready: (port: number) => void
  const port = new Promise<number>((resolve) => {
    ready = resolve
  })
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      // Only the beginning is of use: a node prints a line for every request.
      if (printed.length > 100_000) continue
      printed += decoder.decode(chunk, { stream: true })
      const found = /Listening on 127\.0\.0\.1:(\d+)/.exec(printed)
      if (found) ready(Number(found[1]))
    }
  }
  const reading = Promise.all([read(child.stdout), read(child.stderr)])

  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await Promise.all([child.exited, reading])
    await watchdog.dismiss()
    rmSync(folder, { recursive: true, force: true })
  }

  const ended = child.exited.then(() => null)
  const found = await Promise.race([port, ended])
  if (found === null) {
    await stop()
    throw new Error(`anvil ended:\n${printed}`)
  }
  return { url: `http://127.0.0.1:${found}`, stop }
}
