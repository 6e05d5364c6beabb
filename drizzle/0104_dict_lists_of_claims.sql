-- expand
INSERT INTO "dict_lists" ("list", "read_until")
SELECT 'claims_' || "role", "read_up_to" FROM "dict_claim_lists"
ON CONFLICT DO NOTHING;
