/** The directory of Pix keys of `dev`, in this process, and a payment by one of its keys. */
import type { Environment } from '#src/platform/config/index.ts'
import {
  callGateway,
  type Demo,
  type DemoGateway,
  type Feature,
} from '#src/platform/lifecycle/index.ts'
import { categories, createDirectory, registerSamples } from '#src/simulators/directory/index.ts'
import { canPay, type DevCentralBank, settled } from './central-bank.ts'
import { isSet } from './environment.ts'

export type DevDirectory = {
  /** Settings that make the gateway use it. */
  readonly env: Environment
  /** Keys that may be paid; none where the user named another directory. */
  readonly keys: readonly string[]
  readonly stop: () => Promise<void>
}

/** Enough lookups for a person who tries them by hand. */
const categoryDefault = 'A'

/** Starts the directory, unless the user has set one. */
export const startDevDirectory = async (given: Environment): Promise<DevDirectory> => {
  if (isSet(given, 'DICT_URL')) return { env: {}, keys: [], stop: async () => {} }
  const category = given['DICT_CATEGORY'] || categoryDefault
  const known = categories.find((one) => one === category)
  const directory = await createDirectory({ category: known })
  const env = { DICT_URL: directory.url, DICT_CATEGORY: category }
  return { env, keys: registerSamples(directory), stop: directory.stop }
}

const debtor = {
  name: 'Maria Souza',
  document: '12345678909',
  account_num: '500100',
  account_type: 'CACC',
}

/** Rejects when the payment does not end as it should. */
export const keyDemo = async (
  gateway: DemoGateway,
  { payIn }: DevCentralBank,
  { keys: [key] }: DevDirectory,
  features: readonly Feature[],
): Promise<readonly Demo[]> => {
  if (key === undefined || payIn === undefined || !canPay(features)) return []
  const url = `${gateway.httpUrl}/v1/pix/payments`
  const { command, output } = await callGateway(gateway.apiKey, 'POST', url, {
    key,
    amount: 1_050,
    debtor,
  })
  const { end_to_end_id: id } = JSON.parse(output) as { readonly end_to_end_id: string }
  await settled(gateway, id, 'OUTBOUND', 'pacs.008', 'ACCEPTED')
  const paid = await callGateway(gateway.apiKey, 'GET', `${url}/${id}`)
  const title = `A payment of 10.50 to the Pix key ${key} is looked up, sent and accepted`
  return [{ title, command, output: `${output}\n${paid.output}` }]
}
