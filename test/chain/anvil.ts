// An anvil node on a free loopback port, from the binary in node_modules. A watchdog stops the node if the process ends.
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
    // Without the package, the tests that need it are skipped.
    return null
  }
}

const ANVIL_BINARY = findBinary()

/** Describes a suite that needs a node, or a skipped test without anvil. */
export const describeOnChain = (name: string, define: () => void): void => {
  // The first file after a clone compiles the contracts.
  setDefaultTimeout(120_000)
  if (ANVIL_BINARY !== null) describe(name, define)
  else test.skipIf(true)(`${name} (no anvil binary for ${process.platform} ${process.arch})`, () => undefined)
}

export interface AnvilProcess {
  readonly url: string
  stop(): Promise<void>
}

/**
 * Resolves when the node is ready.
 * @param gas `free`: senders need no ether. `usual`: fees as on a public chain, which wallet estimates expect
 * @throws Error with the output of the node if it exits earlier
 */
export const startAnvil = async (chainId: number, gas: 'free' | 'usual' = 'free'): Promise<AnvilProcess> => {
  if (ANVIL_BINARY === null) throw new Error('anvil is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'countersign-anvil-'))
  const words = `--host 127.0.0.1 --port 0 --chain-id ${chainId} --hardfork cancun --threads 1`
  const fees = gas === 'free' ? ' --gas-price 0 --base-fee 0 --disable-min-priority-fee' : ''
  const child = Bun.spawn([ANVIL_BINARY, ...`${words}${fees}`.split(' ')], {
    cwd: folder,
    env: { HOME: folder, PATH: process.env['PATH'] ?? '', TMPDIR: folder },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const watchdog = startWatchdog(child.pid, folder)

  let printed = ''
  const { promise: port, resolve: ready } = Promise.withResolvers<number>()
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      // Only the beginning is needed; the node prints a line per request.
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
