/** The message interface of `dev`: the central bank in this process, both channels, on loopback. */
import type { Environment } from '#src/platform/config/index.ts'
import { type CentralBank, createCentralBank } from '#src/simulators/central-bank/index.ts'
import { isSet } from './environment.ts'

export type DevCentralBank = {
  /** Settings that make the gateway use it. */
  readonly env: Environment
  /** Undefined: the user named another one. */
  readonly url: string | undefined
  /** Of the institution that the gateway plays. */
  readonly ispb: string
  /** Makes 99999A03 pay; undefined where the bank is not ours. */
  readonly payIn: CentralBank['payIn'] | undefined
  readonly stop: () => Promise<void>
}

const ispbDefault = '12345678'
/** Short, so that `dev` ends soon. */
const longPollMs = 1_000
const roles = 'INBOUND_PULL,WORKER,OUTBOUND_SEND'

/** Starts the bank, unless the user has set a message interface. */
export const startDevCentralBank = async (given: Environment): Promise<DevCentralBank> => {
  const ispb = isSet(given, 'ISPB') ? (given['ISPB'] ?? ispbDefault) : ispbDefault
  if (isSet(given, 'SPI_PRIMARY_URL') || isSet(given, 'SPI_SECONDARY_URL')) {
    return { env: {}, url: undefined, ispb, payIn: undefined, stop: async () => {} }
  }
  const bank = await createCentralBank({ longPollMs: longPollMs })
  const env = { ISPB: ispb, SPI_PRIMARY_URL: bank.url, SPI_SECONDARY_URL: bank.secondaryUrl }
  return { env, url: bank.url, ispb, payIn: bank.payIn, stop: bank.stop }
}

/** All stages of the pipeline where there is a database to keep messages in; none otherwise. */
export const devRoles = (given: Environment, databaseUrl: string | undefined): Environment => {
  const hasDatabase =
    databaseUrl !== undefined || isSet(given, 'DATABASE_DSN') || isSet(given, 'DATABASE_DSN_FILE')
  return hasDatabase && !isSet(given, 'SPI_ROLES') ? { SPI_ROLES: roles } : {}
}
