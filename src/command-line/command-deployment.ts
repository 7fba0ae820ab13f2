// The deployment of this machine that a command's settings name.
import type { Config } from '../config/config.ts'
import type { FindService } from '../lib/service-key.ts'
import type { ShipPlace, ShipTarget } from '../object-store/ship-target.ts'
import type { ShippingService } from '../object-store/shipping.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import type { EvidenceKeyRotation } from '../setup/evidence-key.ts'
import type { Store } from '../store/store.ts'
import type { StoreTarget } from '../store/store-address.ts'
import type { Opened } from './admin-client.ts'

export interface CommandDeployment {
  readonly config: Config
  /** Null when no config file is named. */
  readonly configFile: string | null
  readonly folder: DataFolder
  /** Of modules. */
  readonly findService: FindService
  /** The same with another data folder. */
  servicesAt(folder: DataFolder): FindService
  readonly shipping: ShippingService | null
  /** @throws StoreUnusableError if no start of the service has made the store */
  openStore(): Promise<Store>
  withStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result>
  locateStore(): Promise<StoreTarget>
  /** The store with the admin client to the operations over it. */
  open(): Promise<Opened>
  /** @param named null: the place in the settings. @throws CommandFailedError */
  shipTarget(named: ShipPlace | null): ShipTarget
  /** The environment's settings, with values only where they hold no secret. */
  describeSettings(environment: Readonly<Record<string, string | undefined>>): Readonly<Record<string, unknown>>
  /** Settings that hold or name secrets, as environment variables for another process. */
  secretSettings(): Readonly<Record<string, string>>
  /** Runs `work` while no other process uses the data folder or the store. @throws StoreUnusableError if one does */
  runAlone<Result>(work: (store: Store) => Promise<Result>): Promise<Result>
  /** Runs one rotation of a secret at a time. */
  rotateAlone<Result>(work: () => Promise<Result>): Promise<Result>
  rotateEvidenceKey(): Promise<EvidenceKeyRotation>
}
