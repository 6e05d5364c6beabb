/** The whole gateway in this process, every feature configured, behind real sockets. */
import { randomBytes } from 'node:crypto'
import type { Route } from '#src/platform/http/index.ts'
import type { GatewayUrls } from '#src/platform/lifecycle/index.ts'
import { createKeyTableStore, type NewKey } from '#src/platform/security/index.ts'
import { buildGateway } from '../../src/cli/gateway.ts'
import { program } from '../../src/main.ts'
import {
  createCardNetwork,
  createTestVault,
  findDialect,
  findFraming,
  testVaultKey,
} from '../../src/simulators/card-network/index.ts'
import { createChain, createIssuer } from '../../src/simulators/chain/index.ts'
import { createTestDatabase, quietLogger, type TestDatabase } from './database.ts'

export type GatewayHere = AsyncDisposable & {
  readonly urls: GatewayUrls
  /** Every route of every feature, also those that no document shows. */
  readonly routes: readonly Route[]
  readonly database: TestDatabase
  readonly chain: Awaited<ReturnType<typeof createChain>>
  readonly issuer: Awaited<ReturnType<typeof createIssuer>>
  /** A new key with every scope, unless `more` says otherwise. */
  readonly keyOf: (more?: Partial<NewKey>) => Promise<string>
}

/** @param blockTimeMs of the chain, which the gateway follows at this pace */
export const startGatewayHere = async (
  env: Readonly<Record<string, string>> = {},
  blockTimeMs = 50,
): Promise<GatewayHere> => {
  const database = await createTestDatabase()
  const network = createCardNetwork({
    dialect: findDialect('ascii')!,
    framing: findFraming('binary-2')!,
  })
  network.start()
  const vault = createTestVault({ key: testVaultKey })
  const chain = await createChain({ mining: blockTimeMs })
  const issuer = await createIssuer(chain)
  const loaded = program.load({
    HTTP_ADDR: '127.0.0.1:0',
    CARDGW_PORT: '0',
    GRPC_ADDR: '127.0.0.1:0',
    DATABASE_DSN: database.dsn,
    ISPB: '12345678',
    WEBHOOK_ALLOWED_TARGETS: '127.0.0.1',
    CARDGW_NETA_HOST: '127.0.0.1',
    CARDGW_NETA_PORT: String(network.port()),
    CARDGW_NETA_POOL_SIZE: '1',
    CARDGW_VAULT_URL: vault.url,
    CARDGW_VAULT_TOKEN: testVaultKey,
    TRILHO_STOP_TIMEOUT: '2',
    TRILHO_DRAIN_SECONDS: '0',
    DREX_TESTNET_RPC_URLS: chain.url,
    DREX_TESTNET_TOKEN: issuer.token,
    DREX_TESTNET_DIRECTORY: issuer.directory,
    DREX_TESTNET_BLOCK_TIME_MS: String(blockTimeMs),
    PIX_LOCATION_HOST: 'pix.example.com',
    TRILHO_MASTER_KEY: randomBytes(32).toString('base64'),
    ...env,
  })
  if (loaded.problems.length > 0) throw new Error(JSON.stringify(loaded.problems))
  const { gateway, features } = buildGateway(program, loaded, quietLogger, quietLogger)
  const urls = await gateway.start()
  const store = createKeyTableStore(database.sql, { id: 'cli:test', requestId: undefined })
  return {
    urls,
    routes: features.flatMap(({ routes }) => routes ?? []),
    database,
    chain,
    issuer,
    keyOf: async (more) => {
      const all = { name: 'test', account: 'default', environment: 'test', grants: ['*'] } as const
      return (await store.create({ ...all, expiresAt: undefined, ...more })).key
    },
    [Symbol.asyncDispose]: async () => {
      await gateway.stop(true)
      await chain.stop()
      network.stop()
      await vault.stop()
      await database.close()
    },
  }
}
