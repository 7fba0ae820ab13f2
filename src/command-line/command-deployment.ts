// Deployment on this machine that a command's settings select.
import type { Config } from '../config/config.ts'
import type { FindService } from '../lib/service-key.ts'
import type { ShippingService } from '../object-store/ship-access.ts'
import type { ShipPlace, ShipTarget } from '../object-store/ship-target.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import type { EvidenceKeyRotation } from '../setup/evidence-key.ts'
import type { Store } from '../store/store.ts'
import type { StoreTarget } from '../store/store-address.ts'
import type { Opened } from './admin-client.ts'

export interface CommandDeployment {
  readonly config: Config
  readonly configFile: string | null
  readonly folder: DataFolder
  readonly findService: FindService
  /** Services for another data folder. */
  servicesAt(folder: DataFolder): FindService
  readonly shipping: ShippingService | null
  /** @throws StoreUnusableError if the service has never created the store */
  openStore(): Promise<Store>
  withStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result>
  locateStore(): Promise<StoreTarget>
  open(): Promise<Opened>
  /** @param named null for the target in the settings. @throws CommandFailedError */
  shipTarget(named: ShipPlace | null): ShipTarget
  /** Returns the settings in the environment, without values that contain secrets. */
  describeSettings(environment: Readonly<Record<string, string | undefined>>): Readonly<Record<string, unknown>>
  /** Returns the settings that contain or name secrets, as environment variables for another process. */
  secretSettings(): Readonly<Record<string, string>>
  /** @throws StoreUnusableError if another process uses the data folder or the store */
  runAlone<Result>(work: (store: Store) => Promise<Result>): Promise<Result>
  /** Only one rotation of a secret runs at a time. */
  rotateAlone<Result>(work: () => Promise<Result>): Promise<Result>
  rotateEvidenceKey(): Promise<EvidenceKeyRotation>
}
