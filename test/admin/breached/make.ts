// Generator of src/admin/accounts/breached-passwords.bin from a list with one leaked password per line:
// `bun test/admin/breached/make.ts LIST`. The current file contains the million most frequent of Mark Burnett's ten million
// leaked passwords (public domain, also in SecLists, Passwords/Common-Credentials) with at least twelve characters.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PASSWORD_LENGTH_MIN } from '../../../src/admin/accounts/password.ts'
import { fingerprintPassword } from '../../../src/admin/accounts/password-rules.ts'

const [path = ''] = process.argv.slice(2)
const fingerprints = readFileSync(path, 'utf8')
  .split(/\r?\n/)
  .filter((password) => [...password].length >= PASSWORD_LENGTH_MIN)
  .map(fingerprintPassword)
const sorted = Uint32Array.from(new Set(fingerprints)).sort()
const bytes = Buffer.alloc(sorted.length * 4)
for (const [at, fingerprint] of sorted.entries()) bytes.writeUInt32BE(fingerprint, at * 4)
writeFileSync(join(import.meta.dir, '..', '..', '..', 'src/admin/accounts/breached-passwords.bin'), bytes)
process.stdout.write(`${sorted.length} passwords, ${bytes.length} bytes\n`)
