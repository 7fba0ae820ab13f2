// The memory of the process that screens, asked as the service asks it.
import { readFileSync } from 'node:fs'
import type { ScreeningReply } from '../../../src/modules/screening/worker/screening-protocol.ts'

const ENTRY = `${import.meta.dir}/../../../src/modules/screening/worker/screening.process.ts`
const BATCH = 100
const BATCHES = 30

const megabytesOf = (text: string, name: string): string => {
  const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]
  return kilobytes === undefined ? 'unknown' : `${(Number(kilobytes) / 1024).toFixed(0)} MB`
}

export const screeningProcessMemory = async (image: Uint8Array, names: readonly string[]): Promise<string> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let number = 0
  const child = Bun.spawn([process.execPath, '--smol', ENTRY], {
    stdin: image,
    stdout: 'ignore',
    stderr: 'inherit',
    serialization: 'json',
    ipc: (_message: ScreeningReply) => {
      if (number === BATCHES) return resolve()
      const subjects = Array.from({ length: BATCH }, (_, at) => ({
        name: names[(number * BATCH + at) % names.length]!,
      }))
      child.send({ number, subjects, threshold: 75 })
      number += 1
    },
  })
  await promise
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  const shared = readFileSync(`/proc/${child.pid}/smaps_rollup`, 'utf8')
  child.kill()
  await child.exited
  return `the process that screens, after ${BATCH * BATCHES} names: ${megabytesOf(status, 'VmRSS')} resident, of which ${megabytesOf(status, 'RssAnon')} are its own and the rest is the runtime's file; ${megabytesOf(shared, 'Pss')} when what it shares with the service is divided`
}
