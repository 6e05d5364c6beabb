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
const first = '_x21 1x8'

const unread = '{topic="spi.outbound",group="spi-outbound",instance="a"}'

const cases: Readonly<Record<string, Case>> = {
  TrilhoAway: { 'up{job="trilho",instance="a"}': ['0x30', '1x30'] },
  TrilhoLoopStuck: { 'trilho_loop_stuck_seconds{loop="x",instance="a"}': ['61x30', '60x30'] },
  TrilhoQueueUnread: {
    [`spigw_broker_queue_depth${unread}`]: ['1x30', '1x30'],
    [`spigw_broker_queue_partitions_read${unread}`]: ['0x30', '1x30'],
  },
  TrilhoQueueOld: { [`spigw_broker_queue_age_seconds${unread}`]: ['121x30', '120x30'] },
  TrilhoOutboxOld: { spigw_broker_outbox_age_seconds: ['61x30', '60x30'] },
  TrilhoDeadLetters: {
    'spigw_broker_dead_letters_total{topic="spi.outbound",code="x"}': ['0+1x30', '7x30', first],
  },
  TrilhoPaymentsNotSent: {
    'trilho_spi_messages_open_oldest_seconds{status="QUEUED"}': ['61x30', '60x30'],
  },
  TrilhoUnknownOutcomes: { spigw_unknown_outcomes: ['1x30', '0x30'] },
  TrilhoChannelAway: { 'spigw_link_up{channel="PRIMARY"}': ['0x30', '1x30'] },
  TrilhoChannelSilent: { 'spigw_pull_silent_seconds{channel="PRIMARY"}': ['61x30', '60x30'] },
  TrilhoAccessRefused: {
    'trilho_spi_send_requests_total{channel="PRIMARY",outcome="refused"}': [
      '0+1x30',
      '7x30',
      first,
    ],
  },
  TrilhoUnreadableAnswers: {
    'spigw_pull_dead_letters_total{channel="PRIMARY"}': ['0+1x30', '7x30', first],
  },
  TrilhoCertificateExpires: { 'spigw_cert_days_until_expiry{type="PIA"}': ['29x30', '30x30'] },
  TrilhoCertificateExpired: { 'spigw_cert_expired{type="PIA"}': ['1x30', '0x30'] },
  TrilhoCardNetworkAway: {
    'cardgw_network_connections_up{network="neta"}': ['0x30', '1x30'],
  },
  TrilhoReversalsOld: {
    'cardgw_reversals_oldest_age_seconds{network="neta"}': ['301x30', '300x30'],
  },
  TrilhoChainWaits: {
    'drex_transactions_open{network="drex_testnet",status="mined"}': ['2x30', '2x30', '2x30'],
    'drex_transactions_ended_total{network="drex_testnet",kind="call",status="confirmed"}': [
      ...(['5x30', '0+1x30', '_x30'] as const),
    ],
  },
  TrilhoWebhooksFail: {
    'spigw_webhook_deliveries_total{status="exhausted"}': ['0+1x30', '7x30', first],
  },
}

const unitTests = (name: string, which: 0 | 1 | 2) => ({
  interval: '1m',
  input_series: Object.entries(cases[name] ?? {}).map(([series, values]) => ({
    series,
    values: values[which] ?? values[0],
  })),
  promql_expr_test: [
    {
      expr: `count by (alertname) (ALERTS{alertname="${name}",alertstate="firing"})`,
      eval_time: '25m',
      exp_samples: which !== 1 ? [{ labels: `{alertname="${name}"}`, value: 1 }] : [],
    },
  ],
})

const names = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))

test('every alert has a case', () => {
  expect(names.sort()).toEqual(Object.keys(cases).sort())
})

const noTool = Bun.which('promtool') === null ? ' [skipped: no promtool]' : ''

test.skipIf(noTool !== '')(`each fires, and only in its case${noTool}`, () => {
  const tests = names.flatMap((name) => ([0, 1, 2] as const).map((which) => unitTests(name, which)))
  const unit = join(temporaryDirectory(), 'unit.yaml')
  writeFileSync(unit, JSON.stringify({ rule_files: [file], evaluation_interval: '1m', tests }))
  const { exitCode, stdout, stderr } = Bun.spawnSync(['promtool', 'test', 'rules', unit])
  expect([exitCode, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('SUCCESS')])
})
