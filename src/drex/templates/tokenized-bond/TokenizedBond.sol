// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {AccessControl} from '@openzeppelin/contracts/access/AccessControl.sol';
import {ERC1155} from '@openzeppelin/contracts/token/ERC1155/ERC1155.sol';

/// @title Federal bonds as tokens, a kind of token for each bond.
/// @notice The shape of the pilot's TPFt: a bond is known by acronym, code and maturity; amounts
/// have two decimals. Only admitted addresses hold bonds. What is frozen of a balance does not
/// move, and nothing of a paused bond does.
contract TokenizedBond is ERC1155, AccessControl {
    bytes32 public constant MINTER_ROLE = keccak256('MINTER_ROLE');
    bytes32 public constant BURNER_ROLE = keccak256('BURNER_ROLE');
    bytes32 public constant ACCESS_ROLE = keccak256('ACCESS_ROLE');
    bytes32 public constant FREEZER_ROLE = keccak256('FREEZER_ROLE');
    bytes32 public constant PAUSER_ROLE = keccak256('PAUSER_ROLE');

    struct TPFtData {
        string acronym;
        string code;
        /// Unix seconds.
        uint256 maturityDate;
    }

    uint256 public tpftCount;
    mapping(bytes32 terms => uint256 id) private _ids;
    mapping(uint256 id => TPFtData) public bonds;
    mapping(uint256 id => bool) public isTpftIdPaused;
    mapping(address account => bool) public isEnabledAddress;
    mapping(address account => mapping(uint256 id => uint256)) public frozenBalanceOf;
    mapping(uint256 id => uint256) public totalSupply;

    event BondCreated(uint256 indexed id, string acronym, string code, uint256 maturityDate);
    event EnabledAddress(address indexed account);
    event DisabledAddress(address indexed account);
    event FrozenBalance(address indexed account, uint256 indexed id, uint256 frozen);
    event PausedBond(uint256 indexed id, bool paused);

    error InvalidTerms(string field);
    error UnknownBond();
    error BondExists(uint256 id);
    error NotEnabled(address account);
    error BondPaused(uint256 id);
    error InsufficientAvailable(address account, uint256 id, uint256 available, uint256 wanted);

    constructor(address authority, string memory uri_) ERC1155(uri_) {
        if (authority == address(0)) revert InvalidTerms('authority');
        _grantRole(DEFAULT_ADMIN_ROLE, authority);
        _grantRole(MINTER_ROLE, authority);
        _grantRole(BURNER_ROLE, authority);
        _grantRole(ACCESS_ROLE, authority);
        _grantRole(FREEZER_ROLE, authority);
        _grantRole(PAUSER_ROLE, authority);
    }

    function decimals() external pure returns (uint256) {
        return 2;
    }

    /// @return the bond's kind of token; 0 if there is no such bond
    function getTPFtId(TPFtData memory data) public view returns (uint256) {
        return _ids[_termsOf(data)];
    }

    function createTPFt(TPFtData calldata data) external onlyRole(MINTER_ROLE) {
        if (bytes(data.acronym).length == 0) revert InvalidTerms('acronym');
        if (data.maturityDate <= block.timestamp) revert InvalidTerms('maturityDate');
        bytes32 terms = _termsOf(data);
        if (_ids[terms] != 0) revert BondExists(_ids[terms]);
        uint256 id = ++tpftCount;
        _ids[terms] = id;
        bonds[id] = data;
        emit BondCreated(id, data.acronym, data.code, data.maturityDate);
    }

    function enableAddress(address account) external onlyRole(ACCESS_ROLE) {
        isEnabledAddress[account] = true;
        emit EnabledAddress(account);
    }

    function disableAddress(address account) external onlyRole(ACCESS_ROLE) {
        isEnabledAddress[account] = false;
        emit DisabledAddress(account);
    }

    function setTpftIdPaused(uint256 id, bool paused) external onlyRole(PAUSER_ROLE) {
        isTpftIdPaused[id] = paused;
        emit PausedBond(id, paused);
    }

    function mint(address to, uint256 id, uint256 amount) public onlyRole(MINTER_ROLE) {
        if (id == 0 || id > tpftCount) revert UnknownBond();
        _mint(to, id, amount, '');
    }

    function mint(address to, TPFtData calldata data, uint256 amount) external {
        mint(to, _require(data), amount);
    }

    function burn(address from, uint256 id, uint256 amount) public onlyRole(BURNER_ROLE) {
        _burn(from, id, amount);
    }

    function burn(address from, TPFtData calldata data, uint256 amount) external {
        burn(from, _require(data), amount);
    }

    /// @notice Freezes more, up to what is available.
    function increaseFrozenBalance(
        address from,
        TPFtData calldata data,
        uint256 amount
    ) external onlyRole(FREEZER_ROLE) {
        uint256 id = _require(data);
        uint256 available = balanceOf(from, id) - frozenBalanceOf[from][id];
        if (amount > available) revert InsufficientAvailable(from, id, available, amount);
        frozenBalanceOf[from][id] += amount;
        emit FrozenBalance(from, id, frozenBalanceOf[from][id]);
    }

    function decreaseFrozenBalance(
        address from,
        TPFtData calldata data,
        uint256 amount
    ) external onlyRole(FREEZER_ROLE) {
        uint256 id = _require(data);
        uint256 frozen = frozenBalanceOf[from][id];
        if (amount > frozen) revert InsufficientAvailable(from, id, frozen, amount);
        frozenBalanceOf[from][id] = frozen - amount;
        emit FrozenBalance(from, id, frozen - amount);
    }

    function supportsInterface(
        bytes4 interfaceId
    ) public view override(ERC1155, AccessControl) returns (bool) {
        return super.supportsInterface(interfaceId);
    }

    function _update(
        address from,
        address to,
        uint256[] memory ids,
        uint256[] memory values
    ) internal override {
        if (to != address(0) && !isEnabledAddress[to]) revert NotEnabled(to);
        if (from != address(0) && to != address(0) && !isEnabledAddress[from]) {
            revert NotEnabled(from);
        }
        super._update(from, to, ids, values);
        for (uint256 i = 0; i < ids.length; i++) {
            uint256 id = ids[i];
            if (isTpftIdPaused[id]) revert BondPaused(id);
            if (from == address(0)) totalSupply[id] += values[i];
            if (to == address(0)) totalSupply[id] -= values[i];
            if (from == address(0)) continue;
            // What is left must cover what is frozen.
            uint256 left = balanceOf(from, id);
            uint256 frozen = frozenBalanceOf[from][id];
            if (left < frozen) {
                revert InsufficientAvailable(from, id, left + values[i] - frozen, values[i]);
            }
        }
    }

    function _termsOf(TPFtData memory data) private pure returns (bytes32) {
        return keccak256(abi.encode(data.acronym, data.code, data.maturityDate));
    }

    function _require(TPFtData calldata data) private view returns (uint256 id) {
        id = getTPFtId(data);
        if (id == 0) revert UnknownBond();
    }
}
