/** The gateway as a process of its own with every feature configured: a chain, a card network, a vault, a directory of Pix keys, a database. */
import {
  createCardNetwork,
  createTestVault,
  findDialect,
  findFraming,
  testVaultKey,
} from '../../src/simulators/card-network/index.ts'
import { createDirectory } from '../../src/simulators/directory/index.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { createRig, type Rig } from './drex-rig.ts'

export type WholeGateway = AsyncDisposable & {
  readonly rig: Rig
  readonly database: TestDatabase
  /** Its OpenAPI document. */
  readonly document: OpenApi
}

export type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

type Operation = {
  readonly parameters?: readonly {
    readonly name: string
    readonly in: 'path' | 'query' | 'header'
    readonly required?: boolean
    readonly schema: object
  }[]
  readonly requestBody?: {
    readonly content: Readonly<
      Record<
        string,
        {
          readonly schema: object
          readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
        }
      >
    >
  }
}

export const startWholeGateway = async (
  env: Readonly<Record<string, string>> = {},
): Promise<WholeGateway> => {
  const database = await createTestDatabase()
  const simulator = createCardNetwork({
    dialect: findDialect('ascii')!,
    framing: findFraming('binary-2')!,
  })
  simulator.start()
  const vault = createTestVault({ key: testVaultKey })
  const directory = await createDirectory({})
  const rig = await createRig(database.dsn, {
    env: {
      ISPB: '12345678',
      RSFN_KEY_SOURCE: 'store',
      WEBHOOK_ALLOWED_TARGETS: '127.0.0.1',
      CARDGW_NETA_HOST: '127.0.0.1',
      CARDGW_NETA_PORT: String(simulator.port()),
      CARDGW_VAULT_URL: vault.url,
      CARDGW_VAULT_TOKEN: testVaultKey,
      DICT_URL: directory.url,
      ...env,
    },
  })
  await rig.start()
  const { json } = await rig.call('GET', '/openapi.json')
  return {
    rig,
    database,
    document: json as OpenApi,
    [Symbol.asyncDispose]: async () => {
      await rig.stop()
      simulator.stop()
      await vault.stop()
      await directory.stop()
      await database.close()
    },
  }
}
