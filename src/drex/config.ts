/** Settings of digital currency. No network is public, so each must be configured. */
import { defineSettings, kind, type SettingValues, setting } from '#src/platform/config/index.ts'
import { parseAddress } from './evm/address.ts'
import type { Hex } from './evm/hex.ts'

export const gasPolicies = ['zero', 'legacy', 'eip1559'] as const
/** How fees are set: no fees, one gas price, or base fee and tip. */
export type GasPolicy = (typeof gasPolicies)[number]

export const networkIds = [
  'drex_testnet',
  'drex_mainnet',
  'eth_sepolia',
  'polygon_amoy',
  'polygon_mumbai',
] as const
export type NetworkId = (typeof networkIds)[number]

/** Currencies that we follow on one network beside the main one; nodes take so many addresses at once. */
export const followedMax = 32

/** Validators of one network: nobody runs consensus among more. */
export const validatorsMax = 128

const custodyKeysMax = 1_000

const address = () =>
  kind.value('`0x` and 40 hexadecimal digits', (given): Hex => {
    const parsed = parseAddress(given)
    if (typeof parsed !== 'string') return parsed.address
    throw new Error(parsed === 'checksum' ? 'has a wrong checksum' : 'has another form')
  })

const prefixOf = (id: NetworkId): string => `DREX_${id.toUpperCase().replace(/^DREX_/, '')}`

/** Where an operator names the currencies of a network: its setting, or the member of its entry in the file. */
export const currencySetting = (id: NetworkId, member: 'token' | 'tokens'): string =>
  `${prefixOf(id)}_${member.toUpperCase()}, or ${member} of ${id} in DREX_NETWORKS_FILE`

/** `DREX_TESTNET_…`, `DREX_MAINNET_…`, `DREX_ETH_SEPOLIA_…`, `DREX_POLYGON_AMOY_…`. */
const network = <I extends NetworkId>(id: I) => {
  const prefix = prefixOf(id)
  const settings = {
    rpcUrls: setting(`${prefix}_RPC_URLS`, kind.list(kind.secretUrl('http', 'https'), 8), {
      doc: `JSON-RPC nodes of \`${id}\`, tried in this order.`,
    }),
    token: setting(`${prefix}_TOKEN`, address(), { doc: `Currency contract on \`${id}\`.` }),
    tokens: setting(`${prefix}_TOKENS`, kind.list(address(), followedMax), {
      doc: `Further currency contracts on \`${id}\`, such as institutions’ retail currencies, whose movements statements and events tell.`,
    }),
    startBlock: setting(`${prefix}_START_BLOCK`, kind.integer(0, 2 ** 48), {
      doc: `First block of \`${id}\` whose movements statements tell; 0 when unset.`,
    }),
    chainId: setting(`${prefix}_CHAIN_ID`, kind.integer(1, 2 ** 48), {
      doc: `Chain id of \`${id}\`, when it is not the usual one; each node is checked against it.`,
    }),
    gasPolicy: setting(`${prefix}_GAS_POLICY`, kind.oneOf(...gasPolicies), {
      doc: `How fees are set on \`${id}\`.`,
    }),
    confirmations: setting(`${prefix}_CONFIRMATIONS`, kind.integer(1, 1_000), {
      doc: `Blocks, the transaction’s own included, that make \`${id}\` final.`,
    }),
    blockTimeMs: setting(`${prefix}_BLOCK_TIME_MS`, kind.integer(10, 600_000), {
      doc: `Usual time between blocks of \`${id}\`, in milliseconds.`,
    }),
    proofs: setting(`${prefix}_PROOFS`, kind.boolean(), {
      doc: `Tells ends and incoming movements of \`${id}\` only by receipts that the hashes of its blocks prove; true when unset, false for a chain whose headers are of a form of its own.`,
    }),
    validators: setting(`${prefix}_VALIDATORS`, kind.list(address(), validatorsMax), {
      doc: `Validators of \`${id}\`, if it runs QBFT or IBFT 2.0: a block counts only if two thirds of these sealed it. Needs the proofs.`,
    }),
    permissioning: setting(`${prefix}_PERMISSIONING`, address(), {
      doc: `Account rules of \`${id}\`: asked before anything is signed; a deployed contract is added as a target there.`,
    }),
    swap: setting(`${prefix}_SWAP`, address(), {
      doc: `One-step swap contract of \`${id}\`, for transfers between institutions.`,
    }),
    directory: setting(`${prefix}_DIRECTORY`, address(), {
      doc: `Address directory of \`${id}\`: where its contracts are, by their names, and through them the institutions’ wallets.`,
    }),
    fundingWallet: setting(`${prefix}_FUNDING_WALLET`, address(), {
      doc: `Wallet of this gateway that sends others the coin for their gas on \`${id}\`, if it is a sandbox with fees.`,
    }),
    issuer: setting(`${prefix}_ISSUER`, address(), {
      doc: `Wallet that admits accounts and issues currency for trials on \`${id}\`, if it is a sandbox; by default each account’s own deployer.`,
    }),
  }
  return Object.fromEntries(
    Object.entries(settings).map(([property, value]) => [`${id}.${property}`, value]),
  ) as {
    readonly [P in keyof typeof settings as `${I}.${P}`]: (typeof settings)[P]
  }
}

export const drexSettings = defineSettings({
  networksFile: setting('DREX_NETWORKS_FILE', kind.path(), {
    doc: 'JSON file of networks; a `DREX_<NETWORK>_…` variable wins over it.',
  }),
  web3signerUrl: setting('DREX_WEB3SIGNER_URL', kind.url('http', 'https'), {
    doc: 'Web3Signer (eth1 mode) that signs for wallets of type `web3signer`.',
  }),
  web3signerCertificate: setting('DREX_WEB3SIGNER_CERT_PATH', kind.pem(), {
    doc: 'Client certificate for the Web3Signer; read again when the file changes.',
  }),
  web3signerKey: setting('DREX_WEB3SIGNER_KEY_PATH', kind.pem(), {
    doc: 'Private key of that certificate.',
  }),
  web3signerCa: setting('DREX_WEB3SIGNER_CA_PATH', kind.pem(), {
    doc: 'Authorities that may issue the Web3Signer’s certificate, instead of the usual ones.',
  }),
  custodyKeys: setting(
    'DREX_CUSTODY_KEYS',
    kind.list(
      kind.text({
        pattern: /^[0-9A-Za-z][0-9A-Za-z._-]{0,62}=\S{1,500}$/,
        expected: '`account=key`, where the key is an address, an ARN or the name of a key version',
      }),
      custodyKeysMax,
    ),
    {
      doc: 'Whose the keys at key management services and the Web3Signer are. What is not named here is the account `default`’s.',
    },
  ),
  awsRegion: setting('DREX_AWS_REGION', kind.text({ pattern: /^[a-z]{2}(-[a-z]+)+-\d$/ }), {
    doc: 'Region of the AWS KMS that signs for wallets of type `aws_kms`.',
  }),
  awsKmsUrl: setting('DREX_AWS_KMS_URL', kind.url('http', 'https'), {
    doc: 'AWS KMS, when it is not the region’s public endpoint.',
  }),
  awsAccessKeyId: setting('DREX_AWS_ACCESS_KEY_ID', kind.text({ pattern: /^\w{16,128}$/ }), {
    doc: 'Access key for AWS KMS.',
  }),
  awsSecretAccessKey: setting('DREX_AWS_SECRET_ACCESS_KEY', kind.secret(), {
    doc: 'Secret of that access key.',
  }),
  awsSessionToken: setting('DREX_AWS_SESSION_TOKEN', kind.secret(), {
    doc: 'Session token, where the access key is for a time.',
  }),
  awsCredentialsUrl: setting('DREX_AWS_CREDENTIALS_URL', kind.url('http', 'https'), {
    doc: 'Instead of an access key: the endpoint of a container’s role (ECS, EKS Pod Identity).',
  }),
  awsCredentialsTokenFile: setting('DREX_AWS_CREDENTIALS_TOKEN_FILE', kind.path(), {
    doc: 'File with the token that this endpoint wants; read each time.',
  }),
  gcpCredentials: setting('DREX_GCP_CREDENTIALS', kind.path(), {
    doc: '`metadata`, or the key file of a service account, for the Google Cloud KMS that signs for wallets of type `gcp_kms`.',
  }),
  gcpKmsUrl: setting('DREX_GCP_KMS_URL', kind.url('http', 'https'), {
    default: 'https://cloudkms.googleapis.com',
    doc: 'Google Cloud KMS.',
  }),
  gcpMetadataUrl: setting('DREX_GCP_METADATA_URL', kind.url('http', 'https'), {
    default: 'http://metadata.google.internal',
    doc: 'Metadata server that gives the machine’s access tokens.',
  }),
  rpcTimeoutMs: setting('DREX_RPC_TIMEOUT_MS', kind.integer(50, 120_000), {
    default: '5000',
    doc: 'Time a node has to answer one exchange, in milliseconds.',
  }),
  rpcAttempts: setting('DREX_RPC_ATTEMPTS', kind.integer(1, 20), {
    default: '4',
    doc: 'Exchanges per call, over all nodes of a network.',
  }),
  rpcBatchMax: setting('DREX_RPC_BATCH_MAX', kind.integer(1, 1_000), {
    default: '100',
    doc: 'Calls per exchange with a node; a node that takes fewer is found out and asked for fewer.',
  }),
  watchBlocks: setting('DREX_WATCH_BLOCKS', kind.integer(1, 1_000), {
    default: '64',
    doc: 'Blocks below the confirmations in which the end of a transaction is still compared with the chain, and corrected.',
  }),
  stallSeconds: setting('DREX_STALL_SECONDS', kind.integer(0, 86_400), {
    default: '45',
    doc: 'Time without a new block after which a network is told to stand still, in seconds; 0 never, for networks that make blocks only when there is something to put in.',
  }),
  nodesAgreeing: setting('DREX_NODES_AGREEING', kind.integer(1, 8), {
    default: '2',
    doc: 'Nodes of a network that must tell the same before an end is told or anything is signed again; all of them where fewer are configured. 1 trusts each.',
  }),
  inFlightMax: setting('DREX_IN_FLIGHT_MAX', kind.integer(1, 100_000), {
    default: '2000',
    doc: 'Signed transactions a network may hold without a receipt; the pilot’s pool takes 2500.',
  }),
  expirySeconds: setting('DREX_EXPIRY_SECONDS', kind.integer(1, 604_800), {
    default: '3600',
    doc: 'Time after which what is still unsigned fails, in seconds.',
  }),
  retentionDays: setting('DREX_RETENTION_DAYS', kind.integer(90, 36_500), {
    default: '3650',
    doc: 'Days transfers and calls that have ended are kept, with all their transactions, and movements of wallets; the last of each wallet stays.',
  }),
  feeMaxGwei: setting('DREX_FEE_MAX_GWEI', kind.integer(1, 1_000_000), {
    default: '500',
    doc: 'Highest fee per unit of gas, in gwei; a transaction waits while the network asks for more.',
  }),
  tipMaxGwei: setting('DREX_TIP_MAX_GWEI', kind.integer(0, 1_000_000), {
    default: '50',
    doc: 'Of that, the most that goes to the block’s maker, in gwei; what a node advises beyond it is cut.',
  }),
  transactionFeeMaxGwei: setting('DREX_TRANSACTION_FEE_MAX_GWEI', kind.integer(1, 2 ** 48), {
    default: '100000000',
    doc: 'Most that one transaction may cost, in gwei: fee and gas limit multiplied; 0.1 coin by default.',
  }),
  signerTimeoutMs: setting('DREX_SIGNER_TIMEOUT_MS', kind.integer(50, 120_000), {
    default: '5000',
    doc: 'Time another program has to sign, in milliseconds; after it, its wallet waits and the others do not.',
  }),
  pollMs: setting('DREX_POLL_MS', kind.integer(10, 60_000), {
    doc: 'Time between looks at a network, in milliseconds; when unset a quarter of its block time, and at least 500 while nothing is under way.',
  }),
  resendMs: setting('DREX_RESEND_MS', kind.integer(50, 3_600_000), {
    doc: 'Time without a receipt after which a transaction is sent again, in milliseconds; four blocks, and at least two seconds, when unset.',
  }),
  engineEnabled: setting('DREX_ENGINE_ENABLED', kind.boolean(), {
    default: 'true',
    doc: 'Signs, sends and follows transactions; without it this process only takes requests.',
  }),
  ...network('drex_testnet'),
  ...network('drex_mainnet'),
  ...network('eth_sepolia'),
  ...network('polygon_amoy'),
  ...network('polygon_mumbai'),
})

export type DrexSettings = SettingValues<typeof drexSettings>
