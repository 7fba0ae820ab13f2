// Loaded before the first test file of a process (bunfig.toml): hooks of a preload hold for all files together.
import { afterAll } from 'bun:test'
import { closeShared, expectEnd } from './at-end.ts'

expectEnd()
afterAll(closeShared)
