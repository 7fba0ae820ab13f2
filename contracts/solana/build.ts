// Builds the Solana programs of this folder: Debian 12's clang 14 compiles each, and pack.ts creates the file for the
// loader. Equal sources give equal bytes on every machine. `bun contracts/solana/build.ts` compares the results with
// the stored files; with --write, it replaces them and SHA256SUMS.
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packProgram } from './pack.ts'

export const FOLDER = import.meta.dir
export const PROGRAMS = ['registry', 'vault'] as const
export type ProgramName = (typeof PROGRAMS)[number]

const COMPILER = 'clang-14'
const VERSION = /clang version 14\.0\.6/
const FLAGS =
  '--target=bpfel -mcpu=v2 -Os -std=c11 -Wall -Wextra -Werror -Wno-unused-function -ffreestanding -fno-builtin -fno-strict-aliasing -c'.split(
    ' ',
  )

export const programFile = (name: ProgramName): string => join(FOLDER, name, `${name}.so`)

/** Returns the reason why the files can't be built here; null if the required compiler is installed. */
export const whyNotBuilt = (): string | null => {
  const path = Bun.which(COMPILER)
  if (path === null) return `no ${COMPILER}`
  const version = Bun.spawnSync([path, '--version']).stdout.toString().split('\n')[0] ?? ''
  return VERSION.test(version) ? null : `not the compiler of the files but ${version}`
}

/** @throws Error with the compiler's message */
export const buildProgram = (name: ProgramName): Buffer => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-program-'))
  try {
    const object = join(folder, 'program.o')
    // A relative path, so that no path of this machine is in the object.
    const { success, stderr } = Bun.spawnSync([COMPILER, ...FLAGS, '-o', object, `${name}/${name}.c`], { cwd: FOLDER })
    if (!success) throw new Error(`${name} does not compile:\n${stderr.toString()}`)
    return packProgram(readFileSync(object))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const sums = (files: Readonly<Record<ProgramName, Uint8Array>>): string =>
  PROGRAMS.map((name) => `${createHash('sha256').update(files[name]).digest('hex')}  ${name}/${name}.so\n`).join('')

if (import.meta.main) {
  const reason = whyNotBuilt()
  if (reason !== null)
    throw new Error(`programs are built by clang 14.0.6 of Debian 12 (apt-get install clang-14): ${reason}`)
  const built = Object.fromEntries(PROGRAMS.map((name) => [name, buildProgram(name)])) as Record<ProgramName, Buffer>
  for (const name of PROGRAMS) {
    if (process.argv.includes('--write')) writeFileSync(programFile(name), built[name])
    else if (!readFileSync(programFile(name)).equals(built[name]))
      throw new Error(`${name}.so is not what its sources give`)
  }
  if (process.argv.includes('--write')) writeFileSync(join(FOLDER, 'SHA256SUMS'), sums(built))
  process.stdout.write(sums(built))
}
