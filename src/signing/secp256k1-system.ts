// secp256k1 with the system's libsecp256k1: the fastest backend, kept up to date by the operating system.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SignerUnusableError, SigningError } from './errors.ts'
import { createFfiBackend } from './secp256k1-ffi.ts'
import type { Secp256k1Backend } from './types.ts'

/** Versions, newest first: releases 0.8, 0.7, 0.6, 0.3 to 0.5, 0.2, and earlier unreleased versions. */
const ABI_VERSIONS = [7, 6, 5, 2, 1, 0]

/** Returns the paths, newest version first. Absolute paths only: see FfiBackendOptions. */
export const systemLibraryPaths = (platform: string, architecture: string): readonly string[] => {
  if (platform === 'darwin') {
    const folders = ['/opt/homebrew/lib', '/opt/homebrew/opt/secp256k1/lib', '/usr/local/lib', '/opt/local/lib']
    const names = [...ABI_VERSIONS.map((version) => `libsecp256k1.${version}.dylib`), 'libsecp256k1.dylib']
    return names.flatMap((name) => folders.map((folder) => join(folder, name)))
  }
  if (platform !== 'linux') return []
  const triplet = architecture === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu'
  const folders = [
    `/usr/lib/${triplet}`,
    '/usr/lib64',
    '/usr/lib',
    '/usr/local/lib64',
    '/usr/local/lib',
    `/lib/${triplet}`,
    '/home/linuxbrew/.linuxbrew/lib',
  ]
  return ABI_VERSIONS.flatMap((version) => folders.map((folder) => join(folder, `libsecp256k1.so.${version}`)))
}

/** Opens the first existing and usable path. @throws SignerUnusableError with the reasons if none is usable */
export const loadSystemSecp256k1 = (
  paths: readonly string[] = systemLibraryPaths(process.platform, process.arch),
): Secp256k1Backend => {
  const refusals: string[] = []
  for (const path of paths) {
    if (!existsSync(path)) continue
    try {
      return createFfiBackend({ name: 'libsecp256k1', description: path, path })
    } catch (error) {
      if (!(error instanceof SigningError)) throw error
      refusals.push(error.detail)
    }
  }
  if (refusals.length > 0) throw new SignerUnusableError(refusals.join('; '))
  throw new SignerUnusableError('libsecp256k1 is not installed')
}
