import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/* Each alert of deploy/prometheus/alerts.yaml fires in what it is for, and is silent in what is well, by promtool. */

const file = join(root, 'deploy/prometheus/alerts.yaml')
const { groups } = Bun.YAML.parse(readFileSync(file, 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[]
}

/**
 * Values by minute, in promtool's form, of series in which an alert fires; and of the same series when all is well.
 * Perhaps of others in which it fires.
 */
type Case = Readonly<Record<string, readonly [bad: string, well: string, otherwise?: string]>>

/** A counter with labels is there from its first event on. */
const first = '_x41 1x8'

const unread = '{topic="spi.outbound",group="spi-outbound",instance="a"}'

const cases: Readonly<Record<string, Case>> = {
  TrilhoAway: { 'up{job="trilho",instance="a"}': ['0x50', '1x50'] },
  TrilhoLoopStuck: { 'trilho_loop_stuck_seconds{loop="x",instance="a"}': ['61x50', '60x50'] },
  TrilhoQueueUnread: {
    [`spigw_broker_queue_depth${unread}`]: ['1x50', '1x50'],
    [`spigw_broker_queue_partitions_read${unread}`]: ['0x50', '1x50'],
  },
  TrilhoQueueOld: { [`spigw_broker_queue_age_seconds${unread}`]: ['121x50', '120x50'] },
  TrilhoOutboxOld: { spigw_broker_outbox_age_seconds: ['61x50', '60x50'] },
  TrilhoDeadLetters: {
    'spigw_broker_dead_letters_total{topic="spi.outbound",code="x"}': ['0+1x50', '7x50', first],
  },
  TrilhoDeadLettersHeld: { spigw_broker_dead_letters_held: ['1x50', '0x50'] },
  TrilhoPaymentsNotSent: {
    'trilho_spi_messages_open_oldest_seconds{status="QUEUED"}': ['61x50', '60x50', '0x50'],
    // A line moves as long as anything is sent, however long it is.
    'trilho_spi_messages_open_oldest_seconds{status="IN_LINE"}': ['0x50', '900x50', '900x50'],
    'spigw_messages_processed_total{type="pacs.008",direction="OUTBOUND",status="SENT"}': [
      ...(['0+1x50', '0+1x50', '7x50'] as const),
    ],
  },
  TrilhoUnknownOutcomes: { spigw_unknown_outcomes: ['1x50', '0x50'] },
  TrilhoChannelAway: { 'spigw_link_up{channel="PRIMARY"}': ['0x50', '1x50'] },
  TrilhoChannelSilent: { 'spigw_pull_silent_seconds{channel="PRIMARY"}': ['61x50', '60x50'] },
  TrilhoAccessRefused: {
    'trilho_spi_send_requests_total{channel="PRIMARY",outcome="refused"}': [
      '0+1x50',
      '7x50',
      first,
    ],
  },
  TrilhoUnreadableAnswers: {
    'spigw_pull_dead_letters_total{channel="PRIMARY"}': ['0+1x50', '7x50', first],
  },
  TrilhoCertificateExpires: { 'spigw_cert_days_until_expiry{type="PIA"}': ['29x50', '30x50'] },
  TrilhoCertificateExpired: { 'spigw_cert_expired{type="PIA"}': ['1x50', '0x50'] },
  TrilhoCardNetworkAway: {
    'cardgw_network_connections_up{network="neta"}': ['0x50', '1x50'],
  },
  TrilhoReversalsOld: {
    'cardgw_reversals_oldest_age_seconds{network="neta"}': ['301x50', '300x50'],
  },
  TrilhoAdvicesOld: {
    'cardgw_advices_oldest_age_seconds{network="neta"}': ['301x50', '300x50'],
    'cardgw_network_connections_up{network="neta"}': ['1x50', '1x50'],
  },
  TrilhoDayNotBalanced: {
    'cardgw_reconciliations_open{network="neta"}': ['1x50', '0x50'],
  },
  TrilhoChainWaits: {
    'drex_transactions_open{network="drex_testnet",status="mined"}': ['2x50', '2x50', '2x50'],
    'drex_transactions_ended_total{network="drex_testnet",kind="call",status="confirmed"}': [
      ...(['5x50', '0+1x50', '_x50'] as const),
    ],
  },
  TrilhoTransactionsHeld: { 'drex_transactions_held{network="drex_testnet"}': ['1x50', '0x50'] },
  TrilhoFeesAtLimit: { 'drex_fee_limits_total{network="drex_testnet"}': ['0+1x50', '7x50'] },
  TrilhoBlocksUnproven: {
    'drex_blocks_unproven_total{network="drex_testnet"}': ['0+1x50', '7x50'],
  },
  TrilhoWebhooksFail: {
    'spigw_webhook_deliveries_total{status="exhausted"}': ['0+1x50', '7x50', first],
  },
}

/** What is well, too, though it looks like trouble: the first transfer after a quiet time has just been sent. */
const calm: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  TrilhoAdvicesOld: {
    'cardgw_advices_oldest_age_seconds{network="neta"}': '301x50',
    'cardgw_network_connections_up{network="neta"}': '0x50',
  },
  TrilhoChainWaits: {
    'drex_transactions_open{network="drex_testnet",status="broadcast"}': '_x44 1x5',
  },
}

const unitTest = (name: string, series: Readonly<Record<string, string>>, fires: boolean) => ({
  interval: '1m',
  input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
  promql_expr_test: [
    {
      expr: `count by (alertname) (ALERTS{alertname="${name}",alertstate="firing"})`,
      eval_time: '45m',
      exp_samples: fires ? [{ labels: `{alertname="${name}"}`, value: 1 }] : [],
    },
  ],
})

const unitTests = (name: string) => [
  ...([0, 1, 2] as const).map((which) => {
    const series = Object.entries(cases[name] ?? {}).map(
      ([one, values]) => [one, values[which] ?? values[0]] as const,
    )
    return unitTest(name, Object.fromEntries(series), which !== 1)
  }),
  ...(name in calm ? [unitTest(name, calm[name] ?? {}, false)] : []),
]

const names = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))

test('every alert has a case', () => {
  expect(names.sort()).toEqual(Object.keys(cases).sort())
})

const noTool = Bun.which('promtool') === null ? ' [skipped: no promtool]' : ''

test.skipIf(noTool !== '')(`each fires, and only in its case${noTool}`, () => {
  const tests = names.flatMap(unitTests)
  const unit = join(temporaryDirectory(), 'unit.yaml')
  writeFileSync(unit, JSON.stringify({ rule_files: [file], evaluation_interval: '1m', tests }))
  const { exitCode, stdout, stderr } = Bun.spawnSync(['promtool', 'test', 'rules', unit])
  expect([exitCode, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('SUCCESS')])
})
