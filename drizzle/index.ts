// Written by scripts/migrations.ts; do not edit.
import type { Migration } from '#src/platform/database/index.ts'
import m0 from './0000_idempotency.sql' with { type: 'text' }
import m1 from './0001_certificates.sql' with { type: 'text' }
import m2 from './0002_api_keys.sql' with { type: 'text' }
import m3 from './0003_drex.sql' with { type: 'text' }
import m4 from './0004_broker.sql' with { type: 'text' }
import m5 from './0005_webhooks.sql' with { type: 'text' }
import m6 from './0006_spi_messages.sql' with { type: 'text' }
import m7 from './0007_webhook_trace.sql' with { type: 'text' }
import m8 from './0008_cards.sql' with { type: 'text' }
import m9 from './0009_card_reversals.sql' with { type: 'text' }
import m10 from './0010_spi_sending.sql' with { type: 'text' }
import m11 from './0011_provisional_answers.sql' with { type: 'text' }
import m12 from './0012_spi_pending_answers.sql' with { type: 'text' }
import m13 from './0013_audit.sql' with { type: 'text' }
import m14 from './0014_spi_sendings.sql' with { type: 'text' }
import m15 from './0015_spi_sending_places.sql' with { type: 'text' }
import m16 from './0016_spi_scheduled.sql' with { type: 'text' }
import m17 from './0017_card_reversal_trace.sql' with { type: 'text' }
import m18 from './0018_card_transaction_trace.sql' with { type: 'text' }
import m19 from './0019_spi_repetitions.sql' with { type: 'text' }
import m20 from './0020_spi_message_trace.sql' with { type: 'text' }
import m21 from './0021_job_leases.sql' with { type: 'text' }
import m22 from './0022_accounts.sql' with { type: 'text' }
import m23 from './0023_token_decimals.sql' with { type: 'text' }
import m24 from './0024_drex_evidence.sql' with { type: 'text' }
import m25 from './0025_write_probes.sql' with { type: 'text' }
import m26 from './0026_wallet_rights.sql' with { type: 'text' }
import m27 from './0027_spi_pending_reference.sql' with { type: 'text' }
import m28 from './0028_cards_owners.sql' with { type: 'text' }
import m29 from './0029_webhook_retention.sql' with { type: 'text' }
import m30 from './0030_broker_lanes.sql' with { type: 'text' }
import m31 from './0031_drex_transfer_attempts.sql' with { type: 'text' }
import m32 from './0032_spi_transaction_reasons.sql' with { type: 'text' }
import m33 from './0033_drex_ledger.sql' with { type: 'text' }
import m34 from './0034_spi_transaction_refusals.sql' with { type: 'text' }
import m35 from './0035_account_rights.sql' with { type: 'text' }
import m36 from './0036_drex_key_names.sql' with { type: 'text' }
import m37 from './0037_drex_batches.sql' with { type: 'text' }
import m38 from './0038_spi_recurrences.sql' with { type: 'text' }
import m39 from './0039_card_payment_fields.sql' with { type: 'text' }
import m40 from './0040_drex_wallet_environment.sql' with { type: 'text' }
import m41 from './0041_spi_reports.sql' with { type: 'text' }
import m42 from './0042_card_captures.sql' with { type: 'text' }
import m43 from './0043_pix_charges.sql' with { type: 'text' }
import m44 from './0044_card_increments.sql' with { type: 'text' }
import m45 from './0045_card_holds.sql' with { type: 'text' }
import m46 from './0046_pix_received.sql' with { type: 'text' }
import m47 from './0047_entries_by_reference_and_day.sql' with { type: 'text' }
import m48 from './0048_drex_streams.sql' with { type: 'text' }
import m49 from './0049_drex_operations.sql' with { type: 'text' }
import m50 from './0050_card_attention.sql' with { type: 'text' }
import m51 from './0051_webhook_topics.sql' with { type: 'text' }
import m52 from './0052_pix_due_charges.sql' with { type: 'text' }
import m53 from './0053_settlement_moments.sql' with { type: 'text' }
import m54 from './0054_drex_low_balances.sql' with { type: 'text' }
import m55 from './0055_pix_batches.sql' with { type: 'text' }
import m56 from './0056_pix_recurrences.sql' with { type: 'text' }
import m57 from './0057_drex_held.sql' with { type: 'text' }
import m58 from './0058_card_advised.sql' with { type: 'text' }
import m59 from './0059_drex_agreements.sql' with { type: 'text' }
import m60 from './0060_dict_lookups.sql' with { type: 'text' }
import m61 from './0061_card_unmatched_advices.sql' with { type: 'text' }
import m62 from './0062_card_reconciliations.sql' with { type: 'text' }
import m63 from './0063_spi_resends.sql' with { type: 'text' }
import m64 from './0064_spi_amounts.sql' with { type: 'text' }
import m65 from './0065_card_link_keys.sql' with { type: 'text' }
import m66 from './0066_card_batch_upload.sql' with { type: 'text' }
import m67 from './0067_card_late_answers.sql' with { type: 'text' }
import m68 from './0068_webhook_subjects.sql' with { type: 'text' }
import m69 from './0069_pix_recurring.sql' with { type: 'text' }
import m70 from './0070_dict_entries.sql' with { type: 'text' }
import m71 from './0071_pix_recurrences_ending.sql' with { type: 'text' }
import m72 from './0072_card_messages.sql' with { type: 'text' }
import m73 from './0073_webhook_removal.sql' with { type: 'text' }
import m74 from './0074_pix_receivers_account.sql' with { type: 'text' }
import m75 from './0075_dict_disputes.sql' with { type: 'text' }
import m76 from './0076_dict_comparisons.sql' with { type: 'text' }
import m77 from './0077_directory_claims.sql' with { type: 'text' }
import m78 from './0078_queue_values_kept.sql' with { type: 'text' }
import m79 from './0079_card_exchanges.sql' with { type: 'text' }
import m80 from './0080_disputes_that_wait.sql' with { type: 'text' }
import m81 from './0081_drex_transactions_stuck.sql' with { type: 'text' }
import m82 from './0082_drex_transactions_room.sql' with { type: 'text' }
import m83 from './0083_dict_lists.sql' with { type: 'text' }
import m84 from './0084_found_by_transaction.sql' with { type: 'text' }
import m85 from './0085_reference_lists.sql' with { type: 'text' }
import m86 from './0086_failed_transfers.sql' with { type: 'text' }
import m87 from './0087_idempotency_keys_room.sql' with { type: 'text' }
import m88 from './0088_indexes_that_mislead.sql' with { type: 'text' }
import m89 from './0089_card_messages_found.sql' with { type: 'text' }
import m90 from './0090_found_in_order.sql' with { type: 'text' }
import m91 from './0091_balances_found.sql' with { type: 'text' }
import m92 from './0092_card_movement_fees.sql' with { type: 'text' }
import m93 from './0093_contracts_by_address.sql' with { type: 'text' }
import m94 from './0094_contracts_index_replaced.sql' with { type: 'text' }
import m95 from './0095_cob_listed.sql' with { type: 'text' }
import m96 from './0096_cob_by_status.sql' with { type: 'text' }
import m97 from './0097_charges_by_kind_shown.sql' with { type: 'text' }
import m98 from './0098_charges_indexes_replaced.sql' with { type: 'text' }
import m99 from './0099_dict_entries_version.sql' with { type: 'text' }
import m100 from './0100_removed_certificates.sql' with { type: 'text' }
import m101 from './0101_agreements_told.sql' with { type: 'text' }
import m102 from './0102_agreements_over.sql' with { type: 'text' }
import m103 from './0103_unmatched_advices_currency.sql' with { type: 'text' }
import m104 from './0104_dict_lists_of_claims.sql' with { type: 'text' }
import m105 from './0105_dict_lists_failing.sql' with { type: 'text' }
import m106 from './0106_audit_links_to.sql' with { type: 'text' }
import m107 from './0107_drex_lanes_doubt.sql' with { type: 'text' }
import m108 from './0108_pix_received_pending.sql' with { type: 'text' }
import m109 from './0109_webhook_endpoints_of_types.sql' with { type: 'text' }
import m110 from './0110_spi_messages_waiting.sql' with { type: 'text' }
import m111 from './0111_spi_messages_lines.sql' with { type: 'text' }
import m112 from './0112_drex_transactions_waiting.sql' with { type: 'text' }
import m113 from './0113_pix_txid_is_free.sql' with { type: 'text' }
import m114 from './0114_webhook_endpoints_listed.sql' with { type: 'text' }
import m115 from './0115_pix_returns_open.sql' with { type: 'text' }
import m116 from './0116_deliveries_of_status.sql' with { type: 'text' }
import m117 from './0117_deliveries_indexes_replaced.sql' with { type: 'text' }
import m118 from './0118_done_reversals.sql' with { type: 'text' }
import m119 from './0119_events_of_subject.sql' with { type: 'text' }
import m120 from './0120_events_subject_replaced.sql' with { type: 'text' }
import m121 from './0121_lists_of_recurrences.sql' with { type: 'text' }
import m122 from './0122_spi_reports_declared.sql' with { type: 'text' }
import m123 from './0123_spi_sent_at.sql' with { type: 'text' }
import m124 from './0124_spi_sent_late.sql' with { type: 'text' }
import m125 from './0125_pix_receiver_tax_id.sql' with { type: 'text' }
import m126 from './0126_agreement_of_collections.sql' with { type: 'text' }
import m127 from './0127_lists_by_each_filter.sql' with { type: 'text' }
import m128 from './0128_unfilled_agreements.sql' with { type: 'text' }
import m129 from './0129_pix_received_by_returns.sql' with { type: 'text' }
import m130 from './0130_pix_received_returned_replaced.sql' with { type: 'text' }
import m131 from './0131_unsent_of_a_wallet.sql' with { type: 'text' }
import m132 from './0132_webhook_endpoints_taking.sql' with { type: 'text' }
import m133 from './0133_pix_received_by_both.sql' with { type: 'text' }
import m134 from './0134_pix_received_unended.sql' with { type: 'text' }
import m135 from './0135_pix_returns_unended.sql' with { type: 'text' }
import m136 from './0136_pix_begun_dropped.sql' with { type: 'text' }
import m137 from './0137_uploading.sql' with { type: 'text' }
import m138 from './0138_broker_lanes_low.sql' with { type: 'text' }
import m139 from './0139_webhook_events_told.sql' with { type: 'text' }
import m140 from './0140_webhook_endpoints_inactive.sql' with { type: 'text' }
import m141 from './0141_webhook_endpoints_last_failed.sql' with { type: 'text' }
import m142 from './0142_spi_reasks.sql' with { type: 'text' }
import m143 from './0143_pix_token_secrets.sql' with { type: 'text' }
import m144 from './0144_card_unmatched_resolved.sql' with { type: 'text' }
import m145 from './0145_spi_partial_recurrences.sql' with { type: 'text' }
import m146 from './0146_spi_reask_turns.sql' with { type: 'text' }
import m147 from './0147_card_waiting_indexes.sql' with { type: 'text' }
import m148 from './0148_card_waiting_indexes_replaced.sql' with { type: 'text' }
import m149 from './0149_dispute_told.sql' with { type: 'text' }
import m150 from './0150_pix_batch_turns.sql' with { type: 'text' }
import m151 from './0151_drex_transfers_to_own.sql' with { type: 'text' }
import m152 from './0152_drex_transfers_to_own_replaced.sql' with { type: 'text' }
import m153 from './0153_drex_transfers_of_account.sql' with { type: 'text' }
import m154 from './0154_drex_transfers_of_account_replaced.sql' with { type: 'text' }
import m155 from './0155_drex_watches.sql' with { type: 'text' }
import m156 from './0156_drex_transfers_approval.sql' with { type: 'text' }
import m157 from './0157_card_lists_found.sql' with { type: 'text' }
import m158 from './0158_card_lists_found_replaced.sql' with { type: 'text' }

export const migrations: readonly Migration[] = [
  { name: '0000_idempotency', sql: m0 },
  { name: '0001_certificates', sql: m1 },
  { name: '0002_api_keys', sql: m2 },
  { name: '0003_drex', sql: m3 },
  { name: '0004_broker', sql: m4 },
  { name: '0005_webhooks', sql: m5 },
  { name: '0006_spi_messages', sql: m6 },
  { name: '0007_webhook_trace', sql: m7 },
  { name: '0008_cards', sql: m8 },
  { name: '0009_card_reversals', sql: m9 },
  { name: '0010_spi_sending', sql: m10 },
  { name: '0011_provisional_answers', sql: m11 },
  { name: '0012_spi_pending_answers', sql: m12 },
  { name: '0013_audit', sql: m13 },
  { name: '0014_spi_sendings', sql: m14 },
  { name: '0015_spi_sending_places', sql: m15 },
  { name: '0016_spi_scheduled', sql: m16 },
  { name: '0017_card_reversal_trace', sql: m17 },
  { name: '0018_card_transaction_trace', sql: m18 },
  { name: '0019_spi_repetitions', sql: m19 },
  { name: '0020_spi_message_trace', sql: m20 },
  { name: '0021_job_leases', sql: m21 },
  { name: '0022_accounts', sql: m22 },
  { name: '0023_token_decimals', sql: m23 },
  { name: '0024_drex_evidence', sql: m24 },
  { name: '0025_write_probes', sql: m25 },
  { name: '0026_wallet_rights', sql: m26 },
  { name: '0027_spi_pending_reference', sql: m27 },
  { name: '0028_cards_owners', sql: m28 },
  { name: '0029_webhook_retention', sql: m29 },
  { name: '0030_broker_lanes', sql: m30 },
  { name: '0031_drex_transfer_attempts', sql: m31 },
  { name: '0032_spi_transaction_reasons', sql: m32 },
  { name: '0033_drex_ledger', sql: m33 },
  { name: '0034_spi_transaction_refusals', sql: m34 },
  { name: '0035_account_rights', sql: m35 },
  { name: '0036_drex_key_names', sql: m36 },
  { name: '0037_drex_batches', sql: m37 },
  { name: '0038_spi_recurrences', sql: m38 },
  { name: '0039_card_payment_fields', sql: m39 },
  { name: '0040_drex_wallet_environment', sql: m40 },
  { name: '0041_spi_reports', sql: m41 },
  { name: '0042_card_captures', sql: m42 },
  { name: '0043_pix_charges', sql: m43 },
  { name: '0044_card_increments', sql: m44 },
  { name: '0045_card_holds', sql: m45 },
  { name: '0046_pix_received', sql: m46 },
  { name: '0047_entries_by_reference_and_day', sql: m47 },
  { name: '0048_drex_streams', sql: m48 },
  { name: '0049_drex_operations', sql: m49 },
  { name: '0050_card_attention', sql: m50 },
  { name: '0051_webhook_topics', sql: m51 },
  { name: '0052_pix_due_charges', sql: m52 },
  { name: '0053_settlement_moments', sql: m53 },
  { name: '0054_drex_low_balances', sql: m54 },
  { name: '0055_pix_batches', sql: m55 },
  { name: '0056_pix_recurrences', sql: m56 },
  { name: '0057_drex_held', sql: m57 },
  { name: '0058_card_advised', sql: m58 },
  { name: '0059_drex_agreements', sql: m59 },
  { name: '0060_dict_lookups', sql: m60 },
  { name: '0061_card_unmatched_advices', sql: m61 },
  { name: '0062_card_reconciliations', sql: m62 },
  { name: '0063_spi_resends', sql: m63 },
  { name: '0064_spi_amounts', sql: m64 },
  { name: '0065_card_link_keys', sql: m65 },
  { name: '0066_card_batch_upload', sql: m66 },
  { name: '0067_card_late_answers', sql: m67 },
  { name: '0068_webhook_subjects', sql: m68 },
  { name: '0069_pix_recurring', sql: m69 },
  { name: '0070_dict_entries', sql: m70 },
  { name: '0071_pix_recurrences_ending', sql: m71 },
  { name: '0072_card_messages', sql: m72 },
  { name: '0073_webhook_removal', sql: m73 },
  { name: '0074_pix_receivers_account', sql: m74 },
  { name: '0075_dict_disputes', sql: m75 },
  { name: '0076_dict_comparisons', sql: m76 },
  { name: '0077_directory_claims', sql: m77 },
  { name: '0078_queue_values_kept', sql: m78 },
  { name: '0079_card_exchanges', sql: m79 },
  { name: '0080_disputes_that_wait', sql: m80 },
  { name: '0081_drex_transactions_stuck', sql: m81 },
  { name: '0082_drex_transactions_room', sql: m82 },
  { name: '0083_dict_lists', sql: m83 },
  { name: '0084_found_by_transaction', sql: m84 },
  { name: '0085_reference_lists', sql: m85 },
  { name: '0086_failed_transfers', sql: m86 },
  { name: '0087_idempotency_keys_room', sql: m87 },
  { name: '0088_indexes_that_mislead', sql: m88 },
  { name: '0089_card_messages_found', sql: m89 },
  { name: '0090_found_in_order', sql: m90 },
  { name: '0091_balances_found', sql: m91 },
  { name: '0092_card_movement_fees', sql: m92 },
  { name: '0093_contracts_by_address', sql: m93 },
  { name: '0094_contracts_index_replaced', sql: m94 },
  { name: '0095_cob_listed', sql: m95 },
  { name: '0096_cob_by_status', sql: m96 },
  { name: '0097_charges_by_kind_shown', sql: m97 },
  { name: '0098_charges_indexes_replaced', sql: m98 },
  { name: '0099_dict_entries_version', sql: m99 },
  { name: '0100_removed_certificates', sql: m100 },
  { name: '0101_agreements_told', sql: m101 },
  { name: '0102_agreements_over', sql: m102 },
  { name: '0103_unmatched_advices_currency', sql: m103 },
  { name: '0104_dict_lists_of_claims', sql: m104 },
  { name: '0105_dict_lists_failing', sql: m105 },
  { name: '0106_audit_links_to', sql: m106 },
  { name: '0107_drex_lanes_doubt', sql: m107 },
  { name: '0108_pix_received_pending', sql: m108 },
  { name: '0109_webhook_endpoints_of_types', sql: m109 },
  { name: '0110_spi_messages_waiting', sql: m110 },
  { name: '0111_spi_messages_lines', sql: m111 },
  { name: '0112_drex_transactions_waiting', sql: m112 },
  { name: '0113_pix_txid_is_free', sql: m113 },
  { name: '0114_webhook_endpoints_listed', sql: m114 },
  { name: '0115_pix_returns_open', sql: m115 },
  { name: '0116_deliveries_of_status', sql: m116 },
  { name: '0117_deliveries_indexes_replaced', sql: m117 },
  { name: '0118_done_reversals', sql: m118 },
  { name: '0119_events_of_subject', sql: m119 },
  { name: '0120_events_subject_replaced', sql: m120 },
  { name: '0121_lists_of_recurrences', sql: m121 },
  { name: '0122_spi_reports_declared', sql: m122 },
  { name: '0123_spi_sent_at', sql: m123 },
  { name: '0124_spi_sent_late', sql: m124 },
  { name: '0125_pix_receiver_tax_id', sql: m125 },
  { name: '0126_agreement_of_collections', sql: m126 },
  { name: '0127_lists_by_each_filter', sql: m127 },
  { name: '0128_unfilled_agreements', sql: m128 },
  { name: '0129_pix_received_by_returns', sql: m129 },
  { name: '0130_pix_received_returned_replaced', sql: m130 },
  { name: '0131_unsent_of_a_wallet', sql: m131 },
  { name: '0132_webhook_endpoints_taking', sql: m132 },
  { name: '0133_pix_received_by_both', sql: m133 },
  { name: '0134_pix_received_unended', sql: m134 },
  { name: '0135_pix_returns_unended', sql: m135 },
  { name: '0136_pix_begun_dropped', sql: m136 },
  { name: '0137_uploading', sql: m137 },
  { name: '0138_broker_lanes_low', sql: m138 },
  { name: '0139_webhook_events_told', sql: m139 },
  { name: '0140_webhook_endpoints_inactive', sql: m140 },
  { name: '0141_webhook_endpoints_last_failed', sql: m141 },
  { name: '0142_spi_reasks', sql: m142 },
  { name: '0143_pix_token_secrets', sql: m143 },
  { name: '0144_card_unmatched_resolved', sql: m144 },
  { name: '0145_spi_partial_recurrences', sql: m145 },
  { name: '0146_spi_reask_turns', sql: m146 },
  { name: '0147_card_waiting_indexes', sql: m147 },
  { name: '0148_card_waiting_indexes_replaced', sql: m148 },
  { name: '0149_dispute_told', sql: m149 },
  { name: '0150_pix_batch_turns', sql: m150 },
  { name: '0151_drex_transfers_to_own', sql: m151 },
  { name: '0152_drex_transfers_to_own_replaced', sql: m152 },
  { name: '0153_drex_transfers_of_account', sql: m153 },
  { name: '0154_drex_transfers_of_account_replaced', sql: m154 },
  { name: '0155_drex_watches', sql: m155 },
  { name: '0156_drex_transfers_approval', sql: m156 },
  { name: '0157_card_lists_found', sql: m157 },
  { name: '0158_card_lists_found_replaced', sql: m158 },
]
