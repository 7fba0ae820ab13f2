// The setting `without`, and settings that modules declare.
import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../src/config/config.ts'
import type { ModuleSettings } from '../../src/config/module-settings.ts'
import { secretSetting, setting } from '../../src/config/setting.ts'
import { parseInteger } from '../../src/config/setting-values.ts'
import { describeSettings, SettingInvalidError } from '../../src/config/settings.ts'
import { newFolder } from '../support/folder.ts'

const SIZE = setting({ name: 'tank-size', description: 'Size', defaultText: '5', parse: parseInteger(1, 9) })
const PIN = secretSetting({ name: 'tank-pin', description: 'PIN' })
const MODULES: readonly ModuleSettings[] = [
  {
    name: 'tank',
    summary: 'store water',
    settings: { size: SIZE, pin: PIN },
    checkSettings: (of) => {
      if (of(SIZE) > 7 && of(PIN) === null) throw new SettingInvalidError('a large tank needs a tank-pin')
    },
  },
  { name: 'pump', summary: 'move water', needs: ['tank'] },
]

const load = (flags: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  loadConfig({ arguments: flags, environment }, MODULES)
const refusal = (...given: Parameters<typeof load>): string => {
  try {
    load(...given)
  } catch (error) {
    if (error instanceof SettingInvalidError) return error.message
    throw error
  }
  return 'accepted'
}

describe('a setting of a module', () => {
  test('has the same sources as a setting of the core', () => {
    expect(load([]).of(SIZE)).toBe(5)
    expect(load(['--tank-size', '6']).of(SIZE)).toBe(6)
    expect(load([], { COUNTERSIGN_TANK_SIZE: '7' }).of(SIZE)).toBe(7)
    expect(load([], { COUNTERSIGN_TANK_PIN: 'x' }).of(PIN)).toEqual({
      source: 'environment',
      name: 'COUNTERSIGN_TANK_PIN',
    })
    const file = load([], { COUNTERSIGN_TANK_PIN_FILE: '/run/pin' })
    expect(file.of(PIN)).toEqual({ source: 'file', path: '/run/pin' })
    expect(file.secretFiles).toEqual(['/run/pin'])
  })

  test('is checked like a setting of the core, alone and with others', () => {
    expect(refusal(['--tank-size', '10'])).toBe('--tank-size must be a whole number from 1 to 9')
    expect(refusal(['--tank-size', '8'])).toBe('a large tank needs a tank-pin')
    expect(refusal(['--tank-pin', 'x'])).toContain('is a secret')
  })

  test('is listed in the help below its module', () => {
    expect(describeSettings(MODULES)).toContain('  tank: store water\n  --tank-size, COUNTERSIGN_TANK_SIZE')
  })
})

describe('without', () => {
  test('disables modules by a flag, a variable or the config file', () => {
    const path = join(newFolder(), 'config.yaml')
    writeFileSync(path, 'without: pump\n')
    expect([...load([]).modules]).toEqual(['tank', 'pump'])
    expect([...load(['--without', 'pump']).modules]).toEqual(['tank'])
    expect([...load(['--config', path]).modules]).toEqual(['tank'])
    expect([...load([], { COUNTERSIGN_WITHOUT: 'tank, pump' }).modules]).toEqual([])
  })

  test.each([
    [['--without', 'ship'], 'without: unknown module ship; the modules are tank, pump'],
    [['--without', 'tank'], 'without: pump requires tank; also disable pump, or keep tank'],
    [['--without', 'pump,pump'], '--without must be a comma-separated list of names, each only once'],
    [['--without', 'tank,pump', '--tank-size', '6'], 'tank-size belongs to the module tank, which is disabled'],
  ])('%p is refused', (flags, message) => {
    expect(refusal(flags)).toBe(message)
  })

  test('refuses secrets of a disabled module', () => {
    const message = 'tank-pin belongs to the module tank, which is disabled'
    expect(refusal(['--without', 'tank,pump'], { COUNTERSIGN_TANK_PIN: 'x' })).toBe(message)
    expect(refusal(['--without', 'tank,pump'], { COUNTERSIGN_TANK_PIN_FILE: '/run/pin' })).toBe(message)
  })
})

test('the admin key of another deployment is not a setting and does not prevent a start', () => {
  const key = { COUNTERSIGN_ADMIN_KEY: 'not-a-real-key', COUNTERSIGN_ADMIN_KEY_FILE: '/run/secrets/admin-key' }
  expect(() => loadConfig({ arguments: [], environment: key }, MODULES)).not.toThrow()
  expect(() => loadConfig({ arguments: [], environment: { COUNTERSIGN_ADMIN_KEYS: 'x' } }, MODULES)).toThrow(
    'unknown setting COUNTERSIGN_ADMIN_KEYS',
  )
})
