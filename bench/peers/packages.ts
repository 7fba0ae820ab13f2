// Downloads the packages of the peers from npm on request. They are not dependencies of the project, and are installed in
// a temporary folder, which is removed at the end of the run.
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Processes } from '../processes.ts'

/** Pinned, so that two runs compare with the same peers. */
export const PEER_VERSIONS = {
  '@cerbos/cerbos-linux-x64': '0.55.0',
  '@cedar-policy/cedar-wasm': '4.13.0',
  '@gorules/zen-engine': '0.54.0',
} as const

/** @returns the folder with `node_modules`. @throws Error if the download fails */
export const installPeers = async (processes: Processes): Promise<string> => {
  const folder = processes.temporaryFolder()
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: PEER_VERSIONS }))
  const command = [process.execPath, 'install', '--ignore-scripts', '--silent']
  await processes.run('download of the peers', command, folder)
  chmodSync(cerbosBinary(folder), 0o755)
  return folder
}

export const cerbosBinary = (folder: string): string =>
  join(folder, 'node_modules/@cerbos/cerbos-linux-x64/cerbos-linux-x64')
